"""What keeps a data folder sound: mending journals, backups, pins, and taking benchmarks out of it."""
