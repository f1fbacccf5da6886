"""Whether what is recorded is consistent with itself: hashes, ids, and every figure that is made of the events."""
