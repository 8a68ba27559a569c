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
        # A template can make Python raise any exception.
        if isinstance(error, Exception) and not isinstance(error, RubricError):
            rule, message, where = self._translation(error, trace)
            raise RubricError(message, where=where, rule=rule) from error

    def _translation(self, error: Exception, trace: Any) -> tuple[str, str, str | None]:
        """Return the rule, the message and the place of an error."""
        if isinstance(error, TemplateSyntaxError):
            file = self._file or error.filename or error.name or "template"
            message = f"template: {_advised(str(error.message))}"
            return "template-syntax", message, place(file, error.lineno)
        if isinstance(error, TemplateNotFound):
            return "template-missing", self._not_found(str(error.name)), self._where
        if isinstance(error, RecursionError):
            return "template-fails", "the template nests or calls itself too deeply", None
        if isinstance(error, SyntaxError):
            return "template-syntax", f"template: {error.msg}", self._file
        message = " ".join(str(error).split()) or type(error).__name__
        return (
            "template-fails",
            f"template: {_advised(message[:300])}",
            (_line_of(trace) or self._file),
        )

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
