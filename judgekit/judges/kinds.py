"""The kinds of judges: what the first part of a model string decides.

`KINDS` has the built-in kinds. An installed package adds one with an entry point in the group
`judgekit.judge_kinds`, whose name is the first part of the model strings and whose target is a
`JudgeKind`. The rest of the package asks `kind_of(model)` and compares no prefixes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.entry_points import Offer, offers
from judgekit.core.errors import ConfigError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.protocols import Judge
from judgekit.judges.provider_names import KNOWN_PROVIDERS

if TYPE_CHECKING:
    from judgekit.judges.budget import CostMeter
    from judgekit.judges.pace import Pace

GROUP = "judgekit.judge_kinds"
"""Entry points of packages that add kinds: NAME = package.module:KIND"""
KeyPart = Literal["identity", "params", "mode", "api", "max_reason"]
KEY_PARTS: tuple[KeyPart, ...] = ("identity", "params", "mode", "api", "max_reason")
"""Settings of a judge that may be part of its request keys."""
_NONE: frozenset[KeyPart] = frozenset()


def _nowhere(*_: str) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class JudgeSetup:
    """What a kind gets to open one of its judges."""

    model: str
    """The whole model string."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The keys under the judge in a suite, except `model`; empty for a bare model string."""
    base: Path = Path()
    """Folder that paths in `settings` are relative to."""
    asking: bool = True
    """Whether the judge may be asked; in a replay it only needs the parts of its keys."""
    terminal: bool = False
    """Whether a person may be asked in this terminal."""
    pace: Pace | None = None
    """The pace of the calls to its server, for kinds with `server`."""
    meter: CostMeter | None = None
    """Charges the calls to its server to a budget, for kinds with `server`."""
    where: Callable[..., str] = _nowhere
    """Returns `file:line` of a setting, for errors; without arguments, that of the judge."""
    private: Callable[[], Path] | None = None
    """Returns the private folder of the project; `None` if the judge must keep no files."""

    @property
    def name(self) -> str:
        """The part of the model string after the kind."""
        return self.model.partition("/")[2]

    def given(self, *names: str) -> dict[str, Any]:
        """Return the settings with these names that exist, as keyword arguments."""
        return {name: self.settings[name] for name in names if name in self.settings}


@dataclass(frozen=True, kw_only=True)
class JudgeKind:
    """A kind of judge: the decisions that every judge of this kind shares.

    No decision has a default, so that none is forgotten when a kind is added.
    """

    name: str
    """First part of its model strings: `manual` for `manual/NAME`; empty for hosted models."""
    about: str
    """What judges of this kind are, for documentation; one clause."""
    person: bool
    """Whether a person judges: plans show no price and no minutes, and reports do not compare the
    judge with people."""
    terminal: bool
    """Whether it asks in this terminal, unless the setting `answers` names a file."""
    server: bool
    """Whether it is behind a server: it waits for the pace itself, before each HTTP attempt. The
    pace of other kinds is kept around `ask`."""
    metered: bool
    """Whether asking may cost money or meet rate limits: `max_cost` needs its price, `--plan` shows
    dollars and minutes, the pace applies, and `doctor --ask` asks it."""
    in_replay: bool
    """Whether a replay opens it. If not, a replay needs neither the package nor its libraries."""
    keys: frozenset[KeyPart]
    """The settings that its judges make part of their request keys."""
    ignores: frozenset[KeyPart]
    """The settings that have no effect on it, such as `params` of the judge that a flag replaced.
    A setting in neither `keys` nor `ignores` is an error."""
    open: str | Callable[[JudgeSetup], Judge]
    """Opens a judge; `module:function` is imported when the first judge is opened."""

    @property
    def prefix(self) -> str:
        """The start of its model strings; empty for hosted models."""
        return f"{self.name}/" if self.name else ""

    def settings_of(self, setup: JudgeSetup) -> JudgeSettings:
        """Return the settings of a judge that go into its keys, without opening it."""
        return JudgeSettings(**setup.given(*sorted(self.keys)))

    def opener(self) -> Callable[[JudgeSetup], Judge]:
        """Return the function that opens a judge."""
        if not isinstance(self.open, str):
            return self.open
        module, _, function = self.open.partition(":")
        opener: Callable[[JudgeSetup], Judge] = getattr(import_module(module), function)
        return opener


MANUAL = JudgeKind(
    name="manual",
    about="a person, in a terminal or with a file of answers",
    person=True,
    terminal=True,
    server=False,
    metered=False,
    in_replay=True,
    keys=_NONE,
    # `--judge manual/NAME` keeps the parameters of the model that it replaces.
    ignores=frozenset({"identity", "params", "mode", "max_reason"}),
    open="judgekit.judges.manual:open_person",
)
FAKE = JudgeKind(
    name="fake",
    about="made-up replies, to try a suite",
    person=False,
    terminal=False,
    server=False,
    metered=False,
    in_replay=True,
    keys=_NONE,
    ignores=frozenset({"identity", "params", "mode", "max_reason"}),
    open="judgekit.judges.fake:open_fake",
)
PYTHON = JudgeKind(
    name="python",
    about="a judge that an installed package offers",
    person=False,
    terminal=False,
    server=False,
    metered=True,  # a function may call a hosted model
    in_replay=True,  # an object has an identity and parameters that only it knows
    keys=frozenset({"identity", "params"}),
    ignores=frozenset({"mode"}),
    open="judgekit.judges.named:open_installed",
)
LOCAL = JudgeKind(
    name="transformers",
    about="log-probabilities of a local model",
    person=False,
    terminal=False,
    server=False,
    metered=False,
    in_replay=False,
    keys=frozenset({"identity"}),
    ignores=frozenset({"mode"}),
    open="judgekit.judges.local:open_local",
)
RECORDED = JudgeKind(
    name="recorded",
    about="a file of verdicts of another system",
    person=False,
    terminal=False,
    server=False,
    metered=False,
    in_replay=True,  # the digest of the file is part of every key
    keys=_NONE,
    ignores=frozenset({"identity", "params", "mode", "max_reason"}),
    open="judgekit.judges.recorded:open_recorded",
)
HOSTED = JudgeKind(
    name="",
    about="a model of a provider, or behind your own server",
    person=False,
    terminal=False,
    server=True,
    metered=True,
    in_replay=True,  # opening it needs no key, library or connection
    keys=frozenset(KEY_PARTS),
    ignores=_NONE,
    open="judgekit.judges.hosted:open_hosted",
)
KINDS: Mapping[str, JudgeKind] = {
    kind.name: kind for kind in list(globals().values()) if isinstance(kind, JudgeKind)
}
"""The built-in kinds, which are all those above, by the first part of their model strings."""


def kind_of(model: str) -> JudgeKind:
    """Return the kind of a model string; any string without another kind is a hosted model.

    Raises:
        ConfigError: a package offers this kind, but it cannot be used.
    """
    name, slash, _ = model.partition("/")
    if not slash:
        return HOSTED
    if name and name in KINDS:
        return KINDS[name]
    # The names of providers belong to hosted models, so their runs search no packages.
    if name in KNOWN_PROVIDERS:
        return HOSTED
    return _offered(name, tuple(sys.path)) or HOSTED


def kind_names() -> list[str]:
    """Return the names of the built-in kinds and of those of installed packages."""
    return sorted({*filter(None, KINDS), *(offer.name for offer in offers(GROUP))})


def misnamed_kinds() -> list[str]:
    """Return a line for each kind of a package that has a name which it cannot have."""
    return [
        f"{offer.package} offers a kind of judge named {offer.name!r}; "
        "built-in kinds and providers come first, so it is never used"
        for offer in offers(GROUP)
        if offer.name in KINDS or offer.name in KNOWN_PROVIDERS
    ]


@lru_cache(maxsize=256)
def _offered(name: str, _path: tuple[str, ...]) -> JudgeKind | None:
    """Return the kind that a package on the path offers; `None` if there is none."""
    matches = [offer for offer in offers(GROUP) if offer.name == name]
    if not matches:
        return None
    if len({offer.value for offer in matches}) > 1:
        packages = ", ".join(offer.package for offer in matches)
        raise ConfigError(f"several packages offer a kind of judge named {name!r}: {packages}")
    return _loaded(matches[0])


def _loaded(offer: Offer) -> JudgeKind:
    what = f"kind of judge {offer.name!r} of {offer.value} ({offer.package})"
    try:
        kind = offer.load()
    except Exception as exc:
        raise ConfigError(f"{what} cannot be loaded: {exc}") from exc
    if not isinstance(kind, JudgeKind):
        raise ConfigError(f"{what} is a {type(kind).__name__}; the target is a JudgeKind")
    if kind.name != offer.name:
        raise ConfigError(f"{what} has the name {kind.name!r}; the entry point needs the same name")
    return kind


def open_judge(setup: JudgeSetup) -> Judge:
    """Open a judge of any kind.

    Raises:
        ConfigError: a setting is wrong or has no effect on this kind, or something that the judge
            needs is missing.
    """
    kind = kind_of(setup.model)
    for part in KEY_PARTS:
        if setup.settings.get(part) and part not in kind.keys | kind.ignores:
            message = (
                f"{setup.model} takes no {part}; remove {'them' if part == 'params' else 'it'}"
            )
            raise ConfigError(message, where=setup.where(part))
    if not setup.asking and not kind.in_replay:
        from judgekit.judges.absent import AbsentJudge

        return AbsentJudge(setup.model, kind.settings_of(setup))
    judge = kind.opener()(setup)
    if not kind.in_replay and as_judge(judge).settings != kind.settings_of(setup):
        # The keys of a replay are computed from the table.
        names = ", ".join(sorted(kind.keys)) or "nothing"
        raise ConfigError(
            f"{setup.model}: its judge has other settings than {names}, so a replay would have "
            "other keys; correct `keys` of its kind, or set in_replay"
        )
    return judge
