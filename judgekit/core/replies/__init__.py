"""Replies without a verdict: a text, a vector, the log-probabilities of a text.

Each is stored as text in a `Reply` and read by one function of this package, whether it comes from
a server or from a tape; both are untrusted. `token_distribution` reads the log-probabilities of a
verdict's tokens.
"""
