"""The display of values in notebooks and at prompts.

A value returns lines and tables (`parts`); `html` and `text` render them. Texts of cases and judges
are untrusted in both.
"""
