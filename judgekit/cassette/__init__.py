"""Cassettes: recorded replies in front of a judge.

The tape (a file), the store (a local cache), record modes, explanations of misses, and redaction.
It imports `core`.

Start with `cassette`, which answers requests from recordings; `tape` is the file, `store` the
cache.
"""
