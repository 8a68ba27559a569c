"""Data frames of pandas and polars, and Hugging Face data sets.

`libraries` is the only module that imports them, when a data frame is given or requested.
"""
