"""Statistics: pure functions from outcomes to rates, intervals and tests, each citing its source."""
