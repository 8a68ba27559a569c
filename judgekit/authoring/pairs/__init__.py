"""Contrastive pairs: a model writes answers that show a trait, and answers that lack it."""
