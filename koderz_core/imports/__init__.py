"""Results of other tools: readers of their files, and the journals that are made from them."""
