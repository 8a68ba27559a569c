"""Contrastive pairs: texts that show a trait beside texts that lack it, by a judge model."""
