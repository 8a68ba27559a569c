"""Does a steered model answer differently, still well, and as the trait wants it?"""
