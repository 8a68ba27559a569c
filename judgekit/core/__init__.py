"""Values and contracts that every package shares.

Cases, requests, replies, judgments, scores, failures and errors; canonical JSON; safe reading and
writing of files. It imports no other package of judgekit.

Start with the values in `case`, `request`, `judgment` and `score`, then read `protocols`: the
interfaces of a metric, a judge and an embedder.
"""
