"""Making repository tasks from trees of packages: sources, faults, and the tests that notice them.

The idea of faults by rules in packages with tests is that of SWE-smith (Yang et al., arXiv 2504.21798).
"""
