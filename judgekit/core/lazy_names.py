"""Names that a module loads on first use (PEP 562), and its former names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

REMOVED_IN = "0.2"
"""The version without the former names."""


class LazyNames:
    """The public names of a module, each loaded from its home on first use.

    A module assigns its `__getattr__` and `__dir__` from `get` and `dir`, and its `__all__` from
    `homes`: a star import of the former names would warn, and one of `types` would hide a module of
    the standard library. Type checkers read the imports under `TYPE_CHECKING` in the module;
    `tests/typing` compares them with this object.

    Args:
        module: the name of the module.
        homes: module -> the public names it defines.
        modules: public submodules, which are imported on first use, so that `import judgekit` is
            enough for `judgekit.datasets.from_pandas`.
        renamed: former name -> the full path of what it is now. The module must call `get` in a
            function `__getattr__`, so that the warning is about the line that uses the name.
        own: names that the module defines itself, for `dir`.
    """

    def __init__(
        self,
        module: str,
        homes: Mapping[str, Sequence[str]],
        *,
        modules: Sequence[str] = (),
        renamed: Mapping[str, str] = MappingProxyType({}),
        own: Sequence[str] = (),
    ) -> None:
        self.module = module
        self.homes = dict(sorted((name, home) for home, names in homes.items() for name in names))
        self.modules = modules
        self.renamed = renamed
        self.own = own

    def dir(self) -> list[str]:
        """Return the names that `dir` and tab completion show."""
        return sorted([*self.homes, *self.modules, *self.own])

    def get(self, name: str) -> Any:
        """Return the object with a name.

        Raises:
            AttributeError: there is no such name.
        """
        home = self.homes.get(name)
        if home is not None:
            return getattr(import_module(home), name)
        if name in self.modules:
            return import_module(f"{self.module}.{name}")
        if name in self.renamed:
            return self._former(name)
        hint = ""
        if not name.startswith("_"):
            from judgekit.core.suggest import closest

            close = closest(name, self.dir(), alike=0.75)
            hint = f"; did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"module {self.module!r} has no attribute {name!r}{hint}")

    def _former(self, name: str) -> Any:
        """Return what a former name stands for, with a warning."""
        path = self.renamed[name]
        # The stack: this function, `get`, `__getattr__`, then the line that uses the name.
        # `warnings` skips the frames of the import system.
        warnings.warn(
            f"{self.module}.{name} is now {path}; judgekit {REMOVED_IN} removes the former name",
            DeprecationWarning,
            stacklevel=4,
        )
        home, _, new = path.rpartition(".")
        value = getattr(import_module(home), new)
        # Later uses find the name in the module: one warning for each name and process. If
        # warnings are errors, this line is not reached, and each use is an error.
        setattr(sys.modules[self.module], name, value)
        return value
