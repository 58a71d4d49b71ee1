"""Measurements: `make bench`. Each compares with a named alternative in the same run."""
