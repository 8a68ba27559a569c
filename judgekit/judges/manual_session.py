"""A terminal session in which a person judges one case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.canonical import canonical_json, printable
from judgekit.core.errors import InvalidReply
from judgekit.core.judgment import read_reply
from judgekit.core.request import Question, Reply, Request, Try
from judgekit.judges.questions import Ask, Kind, NotAnAnswer, accepts, next_prompt, numbered, parse
from judgekit.judges.terminal import Terminal, UnusableLine, columns, level_texts, material, wrapped

if TYPE_CHECKING:
    from judgekit.judges.manual import SavedAnswers

Left = Literal["case", "all"]
"""The cases that a person skipped: this case, or this and all following cases."""

_LEAVE: Mapping[str, Left] = {"quit": "all", "skip case": "case"}

HELP = """\
Type an answer and press Enter. Besides:
  undo       go back one question (also from the summary, before it is recorded)
  skip       leave this question undecided, where the rubric allows it
  skip case  leave this case for later; it is asked again in the next run
  case       show the case again
  prompt     show exactly what a model would be sent
  quit       stop here; Ctrl-D and Ctrl-C do the same
A finished case is recorded at once and cannot be undone here; judge it again with --record all.
What you answered of an unfinished case is kept, and taken up in the next run.
To give one of these words as an answer, put a backslash before it: \\undo
"""


class ManualSession:
    """Asks a person the questions of one request.

    Args:
        request: the request.
        terminal: the terminal.
        saved: keeps the answers of an unfinished case.
        done: number of cases that the person judged earlier in this run.
    """

    def __init__(
        self, request: Request, terminal: Terminal, *, saved: SavedAnswers, done: int
    ) -> None:
        self._request = request
        self._form = request.form
        self._terminal = terminal
        self._saved = saved
        self._done = done
        self._pieces = material(request)
        fenced = [piece for piece in self._pieces if piece.tag is not None]
        self._bodies = [" ".join(piece.text.split()) for piece in fenced or self._pieces]
        self._answers: list[Any] = []
        self._shown = -1
        """Number of the question that was shown last."""

    async def judged(self) -> Reply | Left:
        """Return the person's reply, or the skipped cases."""
        self._terminal.discard()
        self._show_case()
        self._take_up()
        while True:
            ask = next_prompt(self._form, self._answers)
            if isinstance(ask, dict):
                done = await self._review(ask)
            else:
                self._introduce(ask)
                done = self._take(await self._line(_prompt(ask)), ask)
            if done is not None:
                return done

    # -- lines ---------------------------------------------------------------------

    async def _line(self, prompt: str) -> str:
        """Return the next usable line; `quit` at the end of input."""
        while True:
            self._terminal.write(prompt)
            try:
                line = await self._terminal.line()
            except UnusableLine as exc:
                self._say(str(exc))
                continue
            if line is None:
                self._terminal.write("\n")
                return "quit"
            if "\x1b" in line:
                self._say("arrow and function keys do not work here; type the line again")
            elif printable(line) != line or "\ufffd" in line:
                self._say("the line holds what is no text; type it again")
            else:
                return line

    def _take(self, line: str, ask: Ask) -> Left | None:
        """Handle a line as a command or an answer; return the skipped cases, if any."""
        command = _command(line)
        if command in _LEAVE:
            return _LEAVE[command]
        if command == "skip":
            self._skip(ask)
        elif not self._serve(command):
            try:
                text = line.lstrip().removeprefix("\\")
                answer = parse(text, ask, in_material=self._holds)
            except NotAnAnswer as exc:
                self._say(str(exc))
            else:
                self._answer(answer)
        return None

    def _serve(self, command: str) -> bool:
        """Run a command; return whether it exists."""
        commands = {"undo": self._undo, "case": self._show_case, "prompt": self._show_prompt}
        if command in ("?", "help"):
            self._terminal.write(HELP)
        elif command in commands:
            commands[command]()
        else:
            return False
        return True

    def _skip(self, ask: Ask) -> None:
        if ask.may_abstain:
            self._answer(None)
        elif ask.may_be_empty:
            self._answer("")
        else:
            self._say("the rubric wants an answer to this; `skip case` leaves the case for later")

    def _answer(self, answer: Any) -> None:
        self._answers.append(answer)
        self._keep()

    def _undo(self) -> None:
        if not self._answers:
            self._say("nothing to undo in this case; what is recorded stays (see ?)")
            return
        self._answers.pop()
        self._shown = -1
        self._keep()

    def _keep(self) -> None:
        try:
            self._saved.write(self._answers)
        except OSError as exc:
            self._say(f"the draft cannot be kept: {exc.strerror}")

    def _take_up(self) -> None:
        """Restore the saved answers of this case, as far as they are valid."""
        for answer in self._saved.read():
            ask = next_prompt(self._form, self._answers)
            if isinstance(ask, dict) or not accepts(answer, ask, in_material=self._holds):
                break
            self._answers.append(answer)
        if self._answers:
            count = len(self._answers)
            answers = f"{count} answer{'s' if count > 1 else ''}"
            self._say(f"taken up from last time: {answers}; undo goes back")

    def _holds(self, words: str) -> bool:
        words = " ".join(words.split())
        return bool(words) and any(words in body for body in self._bodies)

    # -- what is shown -------------------------------------------------------------

    async def _review(self, filled: dict[str, Any]) -> Reply | Left | None:
        """Show the summary; return the reply once it is confirmed, `None` after an undo."""
        attempt = Try(text=canonical_json(filled), finish="stop")
        reply = Reply(tries=(attempt,), model=self._request.model, cost=0.0)
        try:
            read_reply(reply, form=self._form, request_key=self._request.key)
        except InvalidReply as exc:
            self._say(f"these answers do not fit the rubric: {exc}")
            self._undo()
            return None
        self._terminal.write("\n")
        for name, answer in filled.items():
            self._lines(_summary(answer), indent="    ", first=f"  {name}: ")
        while True:
            command = _command(await self._line("Enter records this, undo goes back> "))
            if command in ("", "y", "yes"):
                self._terminal.write("\n")
                return reply
            if command in _LEAVE:
                return _LEAVE[command]
            if command == "undo":
                self._undo()
                return None
            if not self._serve(command):
                self._say("Enter, undo, skip case or quit (? for help)")

    def _show_case(self) -> None:
        about = self._request.about
        sample = f" (asked again, {self._request.sample + 1})" if self._request.sample else ""
        judged = f", {self._done} judged so far" if self._done else ""
        title = f"Case {about.case or self._request.key[:12]}: {about.metric}{sample}{judged}"
        self._terminal.write("\n")
        self._lines(title, style=_BOLD)
        if not self._done and not self._answers:
            self._lines("? shows what can be typed beside answers", style=_DIM)
        rule = "-" * self._terminal.width + "\n"
        self._terminal.write(rule)
        for piece in self._pieces:
            if piece.tag is None:
                self._lines(piece.text, style=_DIM)
                continue
            if piece.tag in ("user", "assistant", "tool", "system"):
                self._lines(f"{piece.tag}:", style=_BOLD)
            self._lines(piece.text, indent="  | ")
        self._terminal.write(rule)
        self._shown = -1

    def _show_prompt(self) -> None:
        for message in self._request.messages:
            self._lines(f"--- {message.role}", style=_BOLD)
            self._lines(message.content)
        self._shown = -1

    def _introduce(self, ask: Ask) -> None:
        """Show the question an ask belongs to, once."""
        question = ask.question
        if self._shown != ask.number:
            self._shown = ask.number
            self._terminal.write("\n")
            if question is None:
                self._lines("On the whole", style=_BOLD)
            else:
                of = len(self._form.questions)
                self._lines(f"{ask.number} of {of}  {question.id}", style=_BOLD)
                self._lines(question.text, indent="  ")
                self._show_answers(question)
        if ask.detail is not None and ask.nth == 0:
            self._lines(f"{ask.detail.name}: {ask.detail.text}", indent="  ")
        if ask.item is not None and ask.kind == "reason" and question and question.items:
            self._lines(f"{ask.nth + 1}. {ask.item}", indent="     ", first="  ")
        if ask.kind == "object":
            self._lines(f"An object of this schema: {canonical_json(self._form.json_schema)}")

    def _show_answers(self, question: Question) -> None:
        texts = level_texts(self._request, question.id)
        places = numbered(question.labels)
        for place, label in enumerate(question.labels, start=1):
            means = f": {texts[label]}" if label in texts else ""
            first = f"  {place}. " if places else "  - "
            self._lines(label + means, indent="     ", first=first)
        if question.nullable:
            self._lines("`skip` if the material does not let you decide", indent="  ")

    def _say(self, text: str) -> None:
        self._lines(text, indent="  ", first="  ! ")

    def _lines(
        self, text: str, *, indent: str = "", first: str | None = None, style: str = ""
    ) -> None:
        coloured = style and self._terminal.colourful
        for line in wrapped(text, self._terminal.width, indent=indent, first=first):
            shown = f"\x1b[{style}m{line}\x1b[0m" if coloured and line else line
            self._terminal.write(f"{shown}\n")


_BOLD, _DIM = "1", "2"
"""Codes of styles."""
_PROMPTS: Mapping[Kind, str] = {
    "reason": "  why> ",
    "met": "     met? (y/n)> ",
    "item": "  item {number} (Enter ends the list)> ",
    "quote": "  quote {number} (words of the material; Enter ends the list)> ",
    "list": "  {number} (Enter ends the list)> ",
    "boolean": "  (y/n)> ",
    "text": "  > ",
    "object": "  json> ",
}


def _prompt(ask: Ask) -> str:
    if ask.kind == "reason" and ask.item is not None:
        return "     why> "
    if ask.kind == "value" and ask.question is not None:
        return f"  answer ({_choice(ask.question)})> "
    return _PROMPTS[ask.kind].format(number=ask.nth + 1)


def _command(line: str) -> str:
    return " ".join(line.split()).casefold()


def _choice(question: Question) -> str:
    if question.labels:
        if numbered(question.labels):
            return f"1-{len(question.labels)} or the word"
        joined = "/".join(question.labels)
        short = columns(joined) <= 40 and re.fullmatch(r"[ -~]+", joined)
        return joined if short else "one of these"
    if question.kind == "boolean":
        return "y/n"
    return f"{question.minimum:g} to {question.maximum:g}"


def _summary(answer: Any) -> str:
    """Return an answer in a line."""
    if not isinstance(answer, dict):
        return _spelled(answer)
    if "items" in answer:
        met = sum(bool(item["met"]) for item in answer["items"])
        return f"{met} of {len(answer['items'])} met"
    if "value" in answer:
        reason = f" ({answer['reason']})" if answer.get("reason") else ""
        return f"{'undecided' if answer['value'] is None else _spelled(answer['value'])}{reason}"
    return canonical_json(answer)


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "; ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
