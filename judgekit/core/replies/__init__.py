"""Replies without a verdict: a text, a vector, the log-probabilities of a text.

Each is text in a `Reply` and read by one function here, from a server or from a tape; both are
untrusted. `token_distribution` reads the log-probabilities that come with a verdict.
"""
