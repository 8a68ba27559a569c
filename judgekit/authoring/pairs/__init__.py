"""Contrastive pairs: answers of a model that show a trait, and answers that lack it."""
