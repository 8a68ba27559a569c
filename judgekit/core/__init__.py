"""Values and contracts that every package shares.

Cases, requests, replies, judgments, scores, failures and errors; canonical JSON; safe reading and
writing of files. It imports no other package of judgekit.

Start with `case`, `request`, `judgment` and `score`, the values that travel, and `protocols`:
what a metric, a judge and an embedder must offer.
"""
