"""The texts below the fields of a class, from its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any


@cache
def class_tree(home: Any) -> ast.stmt:
    """Return the syntax of a class; to find its source takes as long as to read its module.

    Raises:
        OSError: for a class without a file.
    """
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(home))).body
    return tree


@cache
def fields_said(home: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a class that have a text below them, with that text."""
    try:
        tree = class_tree(home)
    except (OSError, TypeError, SyntaxError):
        return ()
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return tuple(
        (field.target.id, " ".join(text.value.value.split()))
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    )
