"""Translate errors of Jinja into `RubricError` with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jinja2 import TemplateNotFound, TemplateSyntaxError

from judgekit.core.errors import CaseError, RubricError, place
from judgekit.core.suggest import suggest
from judgekit.rubric.filters import FILTERS, TESTS


@contextmanager
def translated(
    folders: Sequence[Path] = (), *, where: str | None = None, file: str | None = None
) -> Iterator[None]:
    """Translate the errors of Jinja.

    Args:
        folders: where templates are looked up, for hints.
        where: the place of an error that a template is missing.
        file: the file of an error without a line.
    """
    try:
        yield
    except (RubricError, CaseError):
        raise  # the latter: the template reads a field that was not read whole
    except TemplateSyntaxError as error:
        at = place(file or error.filename or error.name or "template", error.lineno)
        message = f"template: {_advised(str(error.message))}"
        raise RubricError(message, where=at, rule="template-syntax") from error
    except TemplateNotFound as error:
        known = sorted({p.name for f in folders if f.is_dir() for p in f.glob("*.jinja")})
        message = f"template {str(error.name)!r} was not found{suggest(str(error.name), known)}"
        raise RubricError(message, where=where, rule="template-missing") from error
    except RecursionError as error:
        message = "the template nests or calls itself too deeply"
        raise RubricError(message, where=None, rule="template-fails") from error
    except SyntaxError as error:
        raise RubricError(f"template: {error.msg}", where=file, rule="template-syntax") from error
    except Exception as error:  # a template can make Python raise any
        message = " ".join(str(error).split()) or type(error).__name__
        message = f"template: {_advised(message[:300])}"
        line = _line_of(error.__traceback__) or file
        raise RubricError(message, where=line, rule="template-fails") from error


def _advised(message: str) -> str:
    """Return a message of Jinja with advice, if there is any."""
    if message.startswith("unexpected char"):
        # An offset would count the `extends` that front matter puts before the body.
        message = message.rpartition(" at ")[0] or message
    if unknown := re.match(_UNKNOWN, message):
        what = "filter" if unknown["filter"] else "test" if unknown["test"] else "tag"
        word, names = unknown[what], _NAMES[what]
        return f"unknown {what} {word!r}{suggest(word, names)}"
    if unclosed := re.match(_UNCLOSED, message):
        return f"{{% {unclosed[1]} %}} is not closed; end it with {{% end{unclosed[1]} %}}"
    if message.startswith(("unexpected", "expected token", "unexpected char")):
        return f"{message}; check that every {{{{ ends with }}}}, and every {{% with %}}"
    return message


_UNCLOSED = r"Unexpected end of template\. .*The innermost block that needs to be closed is '(\w+)'"
_UNKNOWN = (
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
