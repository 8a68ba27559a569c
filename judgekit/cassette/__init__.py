"""Cassettes: record and replay the replies of a judge.

This package has the tape (a file), the store (a local cache), record modes, explanations of misses,
and redaction. It imports `core`.

Start with `cassette`, which answers requests from recordings; `tape` is the file and `store` the
cache.
"""
