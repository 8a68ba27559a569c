"""Private data: detect it, redact it, and search files for it.

A detector finds one kind of personal data or secrets in a text. Redaction replaces private data
before a judge or a tape sees it, `sanitize` does the same to a file of cases, and `scan` searches
finished files. `rules` reads the redaction rules of a suite. It imports `core`, `datasets` and
`cassette`.

Start with `detectors`, then `redact`.
"""
