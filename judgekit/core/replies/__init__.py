"""Replies that are no verdicts: an answer's text, a vector, the log-probabilities of a text.

Each is kept as text in a `Reply`, like anything that is said, and read by one function here,
whether it came from a server just now or from a tape: what is read is not to be trusted.
"""
