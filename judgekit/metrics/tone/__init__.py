"""Tone: the sentiment of texts, and how consistent it is."""
