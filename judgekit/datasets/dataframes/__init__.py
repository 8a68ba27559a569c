"""Data frames of pandas and polars, and Hugging Face data sets.

Only `libraries` imports these packages, when a data frame is given or requested.
"""
