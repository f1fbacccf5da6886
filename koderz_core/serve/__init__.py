"""``koderz serve``: grading, results and the start of benchmarks over HTTP, for programs on this machine."""
