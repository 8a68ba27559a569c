"""The display of values in notebooks and at prompts.

A value returns lines and tables (`parts`); `html` and `text` render them. Both treat the texts of
cases and judges as untrusted.
"""
