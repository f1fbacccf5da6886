"""Ways of solving a problem: one frozen dataclass each, listed in ``STRATEGIES``."""
