"""Commands of installed packages, which offer them under the entry points `judgekit.commands`.

The target of an entry point is a module with `app`, a group from `command_group`. Flags and help of
its parameters are in `options.json` beside the module, or in `Annotated` parameters.
"""

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from typer.core import TyperCommand

from judgekit.core.entry_points import load_offer, offers, only_offer
from judgekit.core.errors import ConfigError

GROUP = "judgekit.commands"


@cache
def installed_names() -> tuple[str, ...]:
    """Return the names of the commands of installed packages, sorted."""
    return tuple(sorted({offer.name for offer in offers(GROUP)}))


def load_module(name: str) -> ModuleType:
    """Import the module of a command.

    Raises:
        ConfigError: it cannot be imported, or has no `app`.
    """
    what = f"judgekit {name}"
    offer = only_offer(GROUP, name, what)
    module: ModuleType = load_offer(offer, what)
    if not hasattr(module, "app"):
        raise ConfigError(f"{what} of {offer.value} has no `app`, a group of commands")
    return module


def options_of(module: ModuleType) -> Path | None:
    """Return the file with the options of a command; `None` if there is none."""
    file = Path(module.__file__ or "").with_name("options.json")
    return file if file.exists() else None


class AbsentCommand(TyperCommand):
    """Stands for a command that cannot be imported; every use is its error, in one line.

    The help of judgekit and the completions list it, so they must not fail because of it.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, help=problem, short_help="Not installed.", add_help_option=False)
        self._problem = problem

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse the command; a shell that asks for completions gets none."""
        if not ctx.resilient_parsing:
            raise ConfigError(self._problem)
        return []
