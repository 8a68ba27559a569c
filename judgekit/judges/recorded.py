"""A judge that returns recorded verdicts: a file of answers, samples, orders and failures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import (
    ConfigError,
    InvalidReply,
    JudgekitError,
    JudgeRejected,
    place,
    placed,
)
from judgekit.core.input_file import Entry, home_path, nearby, read_entries, read_text, undecodable
from judgekit.core.json_extraction import strict_object
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.judgment import parse_reply
from judgekit.core.request import About, Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.kinds import RECORDED, JudgeSetup

PREFIX = RECORDED.prefix
MAX_VERDICTS = 256 * 2**20
"""Maximum size of a file of verdicts, in bytes."""
_KEYS = ("case", "rubric", "sample", "order", "answers", "raw", "probabilities", "source", "failed")
_ORDER = re.compile(r"swapped|(written|(reversed|shuffled [1-9]\d{0,5}( reversed)?)( swapped)?)")


class RecordedJudge(NamedJudge):
    """Returns the verdicts of another system from a file; reports never treat them as a person's.

    The file contains JSON Lines of `{"case", "rubric", "sample", "order", ...}` with `answers`,
    `raw` or `failed`. `answers` maps a criterion to a value, or to an object with `value`,
    `reason`, ...; `probabilities` (criterion -> answer -> probability, with their `source`) may be
    added or replace it. `raw` is the text of a judge's reply. `failed` is a kind of failure, or a
    message. `sample` is 0 by default. A line without `order` matches any order, except `swapped`
    for two answers. `rubric` may also name the metric.

    Args:
        path: the file; the model is `recorded/STEM`, and the digest of the file is part of every
            key.

    Raises:
        ConfigError: the file cannot be read, a line is not a verdict, or two lines are for the same
            request.
    """

    settings: JudgeSettings

    @checked
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(PREFIX + self.path.stem)
        text = _text_of(self.path)
        self.settings = JudgeSettings(identity=digest(text)[:16], api="recorded")
        self._verdicts = read_entries(text, self.path, _checked, noun="a verdict", twice=_twice)
        """Case, rubric and sample -> order -> verdict; the order `None` matches any order."""
        if not self._verdicts:
            raise ConfigError("holds no verdict", where=str(self.path))

    def __repr__(self) -> str:
        return f"RecordedJudge({str(self.path)!r})"

    async def ask(self, request: Request) -> Reply:
        """Return the verdict for the case, sample and order of the request.

        Raises:
            InvalidReply: the file has no such verdict (kind `unavailable`).
            JudgeRejected: the request is not for a verdict.
            ConfigError: the verdict does not fit the rubric.
        """
        if request.form.want != "verdict" or not request.form.questions:
            raise JudgeRejected(f"{self._model} has verdicts by rubrics alone; name a model")
        content, line = self._entry(request.about, request.sample)
        text = canonical_json(content)
        if "answers" in content or "probabilities" in content:
            try:
                parse_reply(text, request.form)
            except JudgekitError as exc:
                where = place(self.path, line)
                message = f"the verdict does not fit the rubric: {exc}"
                raise ConfigError(message, where=where) from exc
        return Reply(tries=(Try(text=text, finish="stop"),), model=self._model, cost=0.0)

    def _entry(self, about: About, sample: int) -> Entry:
        orders: dict[str | None, Entry] = {}
        for name in (about.rubric, about.metric):
            orders = orders or self._verdicts.get((about.case, name, sample), {})
        # In swapped order, the first answer is a different one.
        any_order = None if about.order.endswith("swapped") else orders.get(None)
        entry = orders.get(about.order) or any_order
        if entry is None:
            what = f"case {about.case!r}, rubric {about.rubric!r}, sample {sample}"
            others = ", ".join(order or "any order" for order in orders)
            only = f" in the order {about.order}, only {others}" if orders else ""
            # Not an outage: after outages the judge would not be asked for the verdicts that exist.
            raise InvalidReply(f"{self.path}: no verdict for {what}{only}", kind="unavailable")
        return entry


def open_recorded(setup: JudgeSetup) -> RecordedJudge:
    """Open the file of verdicts that the setting `recorded` names.

    Raises:
        ConfigError: no file is named, it cannot be read, or a line is not a verdict.
    """
    file = setup.settings.get("recorded")
    if file is None:
        advice = "give RecordedJudge(FILE) as the judge"
        raise ConfigError(f"{setup.model} is a file of verdicts; {advice}")
    with placed(setup.where("recorded")):
        return RecordedJudge(setup.base / home_path(file))


def _text_of(path: Path) -> str:
    try:
        return read_text(path, most=MAX_VERDICTS)
    except FileNotFoundError as exc:
        raise ConfigError(f"no such file of verdicts: {path.name}{nearby(path)}") from exc
    except OSError as exc:
        raise ConfigError(f"verdicts cannot be read: {exc.strerror}", where=str(path)) from exc
    except UnicodeDecodeError as exc:
        problem, line = undecodable(exc)
        raise ConfigError(problem, where=place(path, line)) from exc


_Key = tuple[str, str, int]
"""Case, rubric and sample."""


def _twice(key: _Key, first: int) -> str:
    what = f"case {key[0]!r}, rubric {key[1]!r}, sample {key[2]}"
    return f"{what} is there twice; the first is line {first}"


def _checked(line: str) -> tuple[_Key, str | None, dict[str, Any]]:
    """Return case, rubric and sample of a line, its order, and its verdict.

    Raises:
        InvalidReply: it is not a JSON object.
        ConfigError: a field is missing, unknown or of the wrong type.
    """
    data = strict_object(line)
    if unknown := [name for name in data if name not in _KEYS]:
        raise ConfigError(f"unknown key {unknown[0]!r}{suggest(unknown[0], _KEYS)}")
    case, rubric, sample = data.get("case"), data.get("rubric"), data.get("sample", 0)
    if not (isinstance(case, str) and isinstance(rubric, str)):
        raise ConfigError("needs 'case' and 'rubric', both text")
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 0:
        raise ConfigError(f"sample is a whole number from 0, not {sample!r}")
    order = data.get("order")
    if order is not None and not (isinstance(order, str) and _ORDER.fullmatch(order)):
        orders = "written, reversed, shuffled 1, shuffled 1 reversed, ..., or swapped"
        raise ConfigError(f"order is {orders}, not {order!r}")
    kinds = [name for name in ("answers", "raw", "failed") if name in data]
    more = [name for name in ("probabilities", "source") if name in data]
    if "probabilities" in more and kinds in ([], ["answers"]):
        kinds = ["answers"]
    elif more:
        raise ConfigError(f"{more[0]!r} goes with 'answers' and 'probabilities' alone")
    if len(kinds) != 1:
        raise ConfigError("needs one of 'answers', 'raw' and 'failed'")
    for name, kind in {"answers": dict, "probabilities": dict, "raw": str, "failed": str}.items():
        if not isinstance(data.get(name, kind()), kind):
            what = "an object by criterion" if kind is dict else "a text"
            raise ConfigError(f"{name!r} is {what}")
    content = {name: data[name] for name in _KEYS[4:] if name in data}
    return (case, rubric, sample), order, content
