"""Tables for other libraries: data frames made of columns, and the rows of data frames.

A file for each library; none of them is loaded before somebody hands over a table of it, or
asks for one.
"""

from __future__ import annotations

from judgekit.frames.library import library_of
from judgekit.frames.table import Column, Kind, Table

__all__ = ["Column", "Kind", "Table", "library_of"]
