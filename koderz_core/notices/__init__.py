"""Short notices to people: a benchmark has ended, a command has ended. They never hold a prompt, a program or a key."""
