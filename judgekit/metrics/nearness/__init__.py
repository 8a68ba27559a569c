"""Metrics of nearness: how near texts are to each other, as an embedder has it."""
