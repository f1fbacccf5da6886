"""The tests that gate a loop, the tests that score a program, and the grading of programs."""
