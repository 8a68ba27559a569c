"""Translate errors of Jinja into `RubricError` with file and line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateNotFound, TemplateSyntaxError

from judgekit.core.errors import RubricError, place
from judgekit.core.suggest import suggest
from judgekit.rubric.filters import FILTERS, TESTS


class translated:
    """Context manager that translates the errors of Jinja."""

    def __init__(
        self,
        folders: Sequence[Path] = (),
        *,
        where: str | None = None,
        file: str | None = None,
    ) -> None:
        self._folders = folders
        self._where = where
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, RubricError):
            return
        if isinstance(error, TemplateSyntaxError):
            file = self._file or error.filename or error.name or "template"
            message = f"template: {_advised(str(error.message))}"
            raise RubricError(
                message, where=place(file, error.lineno), rule="template-syntax"
            ) from error
        if isinstance(error, TemplateNotFound):
            message = self._not_found(str(error.name))
            raise RubricError(message, where=self._where, rule="template-missing") from error
        if isinstance(error, RecursionError):
            message = "the template nests or calls itself too deeply"
            raise RubricError(message, rule="template-fails") from error
        if isinstance(error, SyntaxError):
            message = f"template: {error.msg}"
            raise RubricError(message, where=self._file, rule="template-syntax") from error
        if isinstance(error, Exception):
            # A template can make Python raise any exception.
            message = " ".join(str(error).split()) or type(error).__name__
            where = _line_of(trace) or self._file
            message = f"template: {_advised(message[:300])}"
            raise RubricError(message, where=where, rule="template-fails") from error

    def _not_found(self, name: str) -> str:
        known = sorted({p.name for f in self._folders if f.is_dir() for p in f.glob("*.jinja")})
        return f"template {name!r} was not found{suggest(name, known)}"


def _advised(message: str) -> str:
    """Return a message of Jinja with advice, if there is any."""
    if unknown := _UNKNOWN.match(message):
        what = "filter" if unknown["filter"] else "test" if unknown["test"] else "tag"
        word, names = unknown[what], _NAMES[what]
        return f"unknown {what} {word!r}{suggest(word, names)}"
    if unclosed := _UNCLOSED.match(message):
        return f"{{% {unclosed[1]} %}} is not closed; end it with {{% end{unclosed[1]} %}}"
    if message.startswith(("unexpected", "expected token", "unexpected char")):
        return f"{message}; check that every {{{{ ends with }}}}, and every {{% with %}}"
    return message


_UNCLOSED = re.compile(
    r"Unexpected end of template\. .*The innermost block that needs to be closed is '(\w+)'"
)
_UNKNOWN = re.compile(
    r"No filter named '(?P<filter>[^']*)'|No test named '(?P<test>[^']*)'"
    r"|Encountered unknown tag '(?P<tag>[^']*)'"
)
_NAMES = {
    "filter": [name for name in FILTERS if not name.startswith("_")],
    "test": list(TESTS),
    "tag": [
        "block", "call", "elif", "else", "endblock", "endcall", "endfilter", "endfor", "endif",
        "endmacro", "endrole", "endset", "endwith", "filter", "for", "from", "if", "import",
        "include", "macro", "raw", "role", "set", "with",
    ],
}  # fmt: skip


def _line_of(trace: Any) -> str | None:
    """Return `file:line` of the innermost template frame of a traceback."""
    innermost: str | None = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.endswith(".jinja"):
            template = trace.tb_frame.f_globals.get("__jinja_template__")
            line = trace.tb_lineno
            if template is not None:
                line = template.get_corresponding_lineno(line)
            innermost = place(file, line)
        trace = trace.tb_next
    return innermost
