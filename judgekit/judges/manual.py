"""A human judge, who answers in a terminal or in a file."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json
from judgekit.core.case import output_digest
from judgekit.core.errors import (
    ConfigError,
    InvalidReply,
    JudgeAway,
    JudgeRejected,
    JudgeUnavailable,
    place,
)
from judgekit.core.input_file import Entry, home_path, read_entries, read_named, read_text
from judgekit.core.json_extraction import extract_object
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.judgment import read_answers, with_quotes
from judgekit.core.output_file import whole_file
from judgekit.core.request import About, Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.kinds import MANUAL, JudgeSetup

if TYPE_CHECKING:
    from judgekit.judges.terminal import Terminal

PREFIX = MANUAL.prefix


class ManualJudge(NamedJudge):
    """A human judge. The answers come from a terminal or from a file.

    The file contains JSON Lines of `{"case", "metric", "answers", "details"}`. `answers` maps each
    criterion to the fields of the form (`reason` and `value`, `items`, ...). A line may have
    `rubric` instead of `metric`. Lines of another `labeller` are ignored, as are labels without
    `answers` (`values`, `value`), which only `judgekit agree` reads. A line with `output_digest`
    applies only to that output of the case.

    Args:
        name: the person; the model is `manual/NAME`.
        path: the file of answers.
        terminal: where to ask; one case at a time, at any concurrency of the run. Without a file
            and a terminal, the judge can only be replayed.
        drafts: private folder for the answers of unfinished cases.

    Raises:
        ConfigError: a line is not an answer, or two lines answer the same request.
    """

    settings: JudgeSettings

    @checked
    def __init__(
        self,
        name: str,
        path: str | Path | None = None,
        *,
        terminal: Terminal | None = None,
        drafts: Path | None = None,
    ) -> None:
        if path is not None and terminal is not None:
            raise ConfigError("a person answers in a terminal or by a file, not both")
        super().__init__(name if name.startswith(PREFIX) else PREFIX + name)
        self.settings = JudgeSettings(bounds_reasons=False)
        self.path = Path(path) if path is not None else None
        person = self._model.removeprefix(PREFIX)
        self._answers = {} if self.path is None else _read(self.path, name=person)
        self._terminal = terminal
        self._drafts = drafts
        self._gone = False
        self._finished: list[SavedAnswers] = []

    async def ask(self, request: Request) -> Reply:
        """Return the person's answers.

        Raises:
            JudgeUnavailable: the file has no answers for this case.
            JudgeAway: the person skipped the case or stopped.
            JudgeRejected: the request needs a model, for example for a vector.
            ConfigError: the answers of the file do not fit the form.
        """
        if request.form.want != "verdict":
            raise JudgeRejected(f"{self._model} is a person, who gives verdicts only; name a model")
        if self._terminal is not None:
            async with self._terminal.turn:
                return await self._sit(request, self._terminal)
        answers, line = self._entry(request.about)
        answers = with_quotes(answers, form=request.form)
        try:
            read_answers(answers, form=request.form)
        except InvalidReply as exc:
            known = [question.id for question in request.form.questions]
            known += [detail.name for detail in request.form.details]
            message = f"the answers do not fit the rubric: {exc}"
            if other := next((name for name in answers if name not in known), None):
                message = f"the rubric has no criterion {other!r}{suggest(other, known)}"
            raise ConfigError(message, where=place(self.path or "", line)) from exc
        text = canonical_json(answers)
        return Reply(tries=(Try(text=text, finish="stop"),), model=self._model, cost=0.0)

    def _entry(self, about: About) -> Entry:
        by_output: dict[str | None, Entry] = {}
        for name in (about.metric, about.rubric):
            by_output = by_output or self._answers.get((about.case, name), {})
        entry = by_output.get(output_digest(about.output)) or by_output.get(None)
        if about.output is None and len(by_output) == 1:
            (entry,) = by_output.values()  # the request does not identify the output
        if entry is None:
            what = f"case {about.case!r}, metric {about.metric!r}"
            message = f"the answers for {what} are for another output"
            if not by_output:
                message = f"no answers for {what}"
            raise JudgeUnavailable(f"{self.path or 'no file of answers'}: {message}")
        return entry

    async def _sit(self, request: Request, terminal: Terminal) -> Reply:
        if self._gone:
            raise JudgeAway(f"{self._model} stopped before this; run again to go on")
        # A replay does not need the terminal.
        from judgekit.judges.manual_session import ManualSession

        draft = SavedAnswers(self._drafts, request.key)
        session = ManualSession(request, terminal, saved=draft, done=len(self._finished))
        reply = await session.judged()
        if isinstance(reply, Reply):
            self._finished.append(draft)
            return reply
        self._gone = reply == "all"
        raise JudgeAway(f"{self._model} left this for later; run again to judge it")

    def close(self) -> None:
        """Remove the saved answers of finished cases; the recordings have them."""
        for draft in self._finished:
            draft.remove()
        self._finished.clear()


MAX_ANSWERS = 256 * 2**20
"""Maximum size of a file of answers, in bytes."""
_Key = tuple[str, str]
"""Case and metric."""


def open_person(setup: JudgeSetup) -> ManualJudge:
    """Open the judge `manual/NAME`: with its file of answers, in the terminal, or for a replay.

    Raises:
        ConfigError: the person has no name, there is no terminal, or the answers cannot be read.
    """
    if not setup.name:
        raise ConfigError("name the person who judges: manual/NAME")
    if setup.terminal:
        from judgekit.judges.terminal import Console

        try:
            terminal = Console()
        except ConfigError as exc:
            raise ConfigError(f"{setup.model}: {exc}", where=setup.where()) from exc
        drafts = setup.private() / "drafts" if setup.private is not None else None
        return ManualJudge(setup.model, terminal=terminal, drafts=drafts)
    answers = setup.settings.get("answers")
    path = setup.base / home_path(answers) if answers else None
    if not setup.asking and path is not None and path.is_file():
        path = None  # a replay does not need the answers
    return ManualJudge(setup.model, path)


def _read(path: Path, *, name: str) -> dict[_Key, dict[str | None, Entry]]:
    """Return case and metric -> digest of the output -> the answers."""
    text = read_named(path, what="file of answers", most=MAX_ANSWERS)
    return read_entries(text, path, partial(_entry, name=name), noun="an answer", twice=_twice)


def _twice(key: _Key, _: int) -> str:
    return f"case {key[0]!r}, {key[1]!r} is answered twice"


_KEYS = {"case", "metric", "rubric", "answers", "details", "labeller", "values", "value",
         "output_digest"}  # fmt: skip


def _entry(line: str, *, name: str) -> tuple[_Key, str | None, dict[str, Any]] | None:
    """Return the answers of a line; `None` for another person's answers, and for labels."""
    data, _ = extract_object(line)
    if unknown := set(data) - _KEYS:
        first = sorted(unknown)[0]
        raise ConfigError(f"unknown key {first!r}{suggest(first, _KEYS)}")
    only_labels = "answers" not in data and ("values" in data or "value" in data)
    if only_labels or data.get("labeller", name) != name:
        return None
    case, metric = data.get("case"), data.get("metric") or data.get("rubric")
    output = data.get("output_digest")
    answers, details = data.get("answers"), data.get("details", {})
    if not (output is None or isinstance(output, str)):
        raise ConfigError("'output_digest' must be a text of 16 hex digits")
    if not (isinstance(case, str) and isinstance(metric, str)):
        raise ConfigError("needs 'case' and 'metric' (or 'rubric')")
    if not (isinstance(answers, dict) and isinstance(details, dict)):
        raise ConfigError("needs 'answers': {criterion: {...}}")
    return (case, metric), output, {**answers, **details}


MAX_DRAFT = 2_000_000
"""Maximum size of a draft, in bytes."""
_HEADER = {"judgekit": "draft", "version": 1}


class SavedAnswers:
    """The answers to one request, in a private file named by its key.

    The file contains only the typed answers. It may be damaged or forged, so answers from it are
    used only if they could have been typed.
    """

    def __init__(self, folder: Path | None, key: str) -> None:
        self.path = folder / f"{key}.json" if folder is not None else None

    def read(self) -> list[Any]:
        """Return the saved answers; none if no readable file exists."""
        if self.path is None or self.path.is_symlink() or not self.path.is_file():
            return []
        try:
            data = json.loads(read_text(self.path, most=MAX_DRAFT))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(data, dict) or {k: data.get(k) for k in _HEADER} != _HEADER:
            return []
        answers = data.get("answers")
        return answers if isinstance(answers, list) else []

    def write(self, answers: list[Any]) -> None:
        """Write the answers atomically.

        Raises:
            OSError: the file cannot be written; an existing file is unchanged.
        """
        if self.path is None:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(self.path, mode=0o600) as file:
            file.write(json.dumps({**_HEADER, "answers": answers}).encode())

    def remove(self) -> None:
        """Remove the draft: the reply is recorded or was discarded."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
