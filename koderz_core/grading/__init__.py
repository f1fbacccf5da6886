"""Which tests gate the loop, which give the score, and what a candidate's score is."""
