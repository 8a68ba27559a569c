"""Tone: the sentiment of texts, and whether it holds."""
