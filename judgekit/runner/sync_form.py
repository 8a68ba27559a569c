"""The synchronous form of an async function that runs cases."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from judgekit.core.arguments import checked

P = ParamSpec("P")
T = TypeVar("T")


def sync_form(
    function: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[[Callable[[], None]], Callable[P, T]]:
    """Return a decorator that gives a name and its documentation to the form for synchronous code.

    The form has the parameters of the async function, also for type checkers, so that each is
    written once. The async function takes `stop` and `progress`; see `run_stoppable`.
    """

    def decorate(named: Callable[[], None]) -> Callable[P, T]:
        @wraps(function)
        def run(*args: P.args, **options: P.kwargs) -> T:
            from judgekit.runner.background import run_stoppable

            return run_stoppable(partial(function, *args), options)

        run.__name__, run.__qualname__ = named.__name__, named.__qualname__
        parameters = (function.__doc__ or "").partition("    Args:\n")[2]
        run.__doc__ = f"{(named.__doc__ or '').rstrip()}\n\n    Args:\n{parameters}"
        return checked(run)

    return decorate
