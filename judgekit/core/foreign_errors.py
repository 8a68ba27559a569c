"""Translate the exceptions of a judge that a user wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from judgekit.core.canonical import visible
from judgekit.core.credentials import known_secrets
from judgekit.core.errors import (
    InvalidValue,
    JudgekitError,
    JudgeUnavailable,
    cost_before,
    set_cost,
)
from judgekit.core.sanitiser import Sanitiser

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIBRARIES = ("site-packages", "dist-packages", "lib/python")


@contextmanager
def foreign_errors(model: str) -> Iterator[None]:
    """Raise the exceptions inside this block as `JudgeUnavailable`, with their file and line.

    The line is the last one of code that is not part of an installed library. Errors of judgekit
    are raised unchanged.

    Args:
        model: the model string of the judge.

    Raises:
        JudgeUnavailable: the block raised another exception.
    """
    try:
        yield
    except Exception as exc:
        if isinstance(exc, JudgekitError) and not isinstance(exc, InvalidValue):
            raise
        _log(model)
        at = _place(exc.__traceback__)
        # Exceptions of HTTP clients contain addresses, which may contain a key.
        clean = Sanitiser(known_secrets()).text(str(exc)[:2_000])
        words = " ".join(visible(clean).split())[:500]
        text = f"{type(exc).__name__}: {words}" if words else type(exc).__name__
        error = JudgeUnavailable(f"{model} raised {text}{at}")
        set_cost(error, cost_before(exc))
        raise error from exc


def _log(model: str) -> None:
    """Log the exception that is being handled, for the author of the judge."""
    import logging

    logging.getLogger("judgekit").debug("judge %s raised an exception", model, exc_info=True)


def _place(traceback: TracebackType | None) -> str:
    """Return where the user's code failed, as ` (FILE:LINE)`."""
    places = list(_places(traceback))
    own = [place for place in places if not _of_library(place[0])]
    if not (own or places):
        return ""
    file, line = (own or places)[-1]
    return f" ({Path(file).name}:{line})"


def _places(traceback: TracebackType | None) -> Iterable[tuple[str, int]]:
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file != __file__ and not file.startswith(str(Path(__file__).parents[1])):
            yield file, traceback.tb_lineno
        traceback = traceback.tb_next


def _of_library(file: str) -> bool:
    plain = file.replace("\\", "/")
    return any(folder in plain for folder in _LIBRARIES)
