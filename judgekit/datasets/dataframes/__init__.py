"""Tables for other libraries: data frames made of columns, and the rows of data frames.

A file for each library; none of them is loaded before somebody hands over a table of it, or
asks for one.
"""
