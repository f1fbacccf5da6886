"""Short notices that a benchmark or a command has ended. They never contain a prompt, a program or a key."""
