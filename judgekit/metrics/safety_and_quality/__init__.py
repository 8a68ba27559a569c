"""Safety and quality: whether an answer does harm, and how good it is."""
