"""What the numbers mean: pure functions from outcomes to rates and intervals, each citing its source."""
