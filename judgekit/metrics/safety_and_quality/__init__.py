"""Safety and quality: whether an answer is harmful, and how good it is."""
