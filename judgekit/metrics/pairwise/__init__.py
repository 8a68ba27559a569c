"""The better of two answers: pairwise preference, asked in both orders. Start with `preference`."""
