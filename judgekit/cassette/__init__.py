"""Cassettes: record and replay the replies of a judge.

This package has the tape (a file), the store (a local cache), record modes, and explanations of
misses. It imports `core`.

Start with `cassette`, which answers requests from recordings; `tape` is the file and `store` the
cache.
"""
