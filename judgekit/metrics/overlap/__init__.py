"""Overlap with a reference: ROUGE, BLEU, chrF."""
