"""Language models: which there are, what they cost, and one file per provider. One attempt per call, no policy."""
