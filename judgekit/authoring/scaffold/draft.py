"""Draft a new rubric: a commented file from flags or answers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Literal, NamedTuple, get_args
from unicodedata import normalize

from jinja2 import Environment, StrictUndefined, Template

from judgekit.authoring.scaffold.project import FILES, SCHEMAS, listed, scalar, write_all
from judgekit.authoring.schemas import small_schema_text
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_TEXTS, FIELD_BY_NAME
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym
from judgekit.core.yaml_file import package_data
from judgekit.rubric.file import MAX_CRITERIA
from judgekit.rubric.library import newest_base, rubric_names
from judgekit.rubric.versions import SUFFIX

Kind = Literal["levels", "boolean", "number", "choice", "checklist"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NEEDS = tuple(name for name in Case.model_fields if name in CASE_TEXTS and name != "output")
"""Fields that a rubric may require in addition to the output."""
Levels = tuple[tuple[str, float | None], ...]
DEFAULT_LEVELS: Levels = (("fully", 1.0), ("partly", 0.5), ("not at all", 0.0))
_HOW = re.compile(r"how +(\w+)", re.IGNORECASE)
_HOW_WORDS = {
    "well": ("very well", "fairly well", "poorly", "not at all"),
    "much": ("very much", "fairly much", "a little", "not at all"),
    "many": ("all", "most", "few", "none"),
    "often": ("always", "often", "rarely", "never"),
}
_HOW_ELSE = ("very", "fairly", "slightly", "not at all")

_NAME_WORDS = 4
"""Most words of a name before `=`; a longer text is a question that holds the sign."""
_WORDS = Path(__file__).with_name("interview.yaml")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,79}")
_EXAMPLE = 'judgekit rubric new tone --criterion "Is the answer friendly?"'


class CriterionDraft(NamedTuple):
    """One criterion."""

    id: str
    text: str
    kind: Kind = "levels"
    words: tuple[tuple[str, float | None], ...] = DEFAULT_LEVELS
    """Levels or options and their values; `None` excludes the criterion from the score."""
    items: tuple[str, ...] = ()
    weight: float = 1.0


class RubricDraft(NamedTuple):
    """A new rubric."""

    name: str
    description: str
    criteria: tuple[CriterionDraft, ...]
    """None in a frame: the cases have the criteria."""
    requires: tuple[str, ...] = ("input",)
    quotes: bool = False
    """Whether the judge must quote its evidence."""


def levels_for(text: str) -> Levels:
    """Return levels that answer a question: `How friendly is it?` takes no `fully`.

    >>> levels_for("How friendly is it?")[1], levels_for("Is it friendly?")[1]
    (('fairly', 0.67), ('partly', 0.5))
    """
    how = _HOW.match(text.strip())
    if how is None:
        return DEFAULT_LEVELS
    words = _HOW_WORDS.get(how[1].lower(), _HOW_ELSE)
    return tuple(zip(words, (1.0, 0.67, 0.33, 0.0), strict=True))


def name_fault(name: str) -> str | None:
    """Return the problem of a name of a rubric or criterion, if any."""
    if NAME.fullmatch(name):
        return None
    return "a name begins with a letter, followed by up to 79 letters, digits, _ and -"


def parts_of(text: str, between: str = ",") -> tuple[str, ...]:
    """Return the stripped, non-empty parts of an answer."""
    return tuple(filter(None, (" ".join(part.split()) for part in text.split(between))))


def needs_of(answer: str) -> tuple[str, ...]:
    """Return the fields of a list.

    Raises:
        ValueError: a field does not exist.
    """
    fields = parts_of(answer)
    for word in fields:
        if word not in (*NEEDS, "output", "-"):
            raise ValueError(f"a case has no field {word!r}; give some of {', '.join(NEEDS)}, or -")
    return tuple(field for field in NEEDS if field in fields)


def id_of(text: str, used: Sequence[str]) -> str:
    """Return a name for a criterion: the first words of its text that are not function words.

    >>> id_of("Is the answer friendly to a tired customer?", [])
    'friendly_tired'
    """
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    small = package_data(_WORDS)["left_out"].split()
    words = [word for word in re.findall(r"[a-z][a-z0-9]*", plain) if word not in small]
    base = "_".join(words[:2])[:40] or "criterion"
    names = (base if n == 1 else f"{base}_{n}" for n in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def criterion_from(text: str, used: Sequence[str], *, kind: Kind = "levels") -> CriterionDraft:
    """Return the criterion of a flag: `TEXT`, or `NAME=TEXT`.

    Raises:
        ConfigError: there is no text, or the name is already used.
    """
    name, equals, rest = text.partition("=")
    # A name may have spaces: `is polite=Is it polite?`.
    spaced = "_".join(name.split())
    named = bool(equals) and len(name.split()) <= _NAME_WORDS and NAME.fullmatch(spaced) is not None
    id, question = (spaced, rest) if named else ("", text)
    question = " ".join(question.split())
    if not question:
        raise ConfigError(f"--criterion {text!r}: has no question; write NAME=TEXT or TEXT")
    if id in used:
        raise ConfigError(f"--criterion: two criteria are named {id!r}; rename one")
    return CriterionDraft(id or id_of(question, used), question, kind, levels_for(question))


def draft_from(
    name: str | None,
    *,
    description: str | None,
    criteria: Sequence[str],
    kind: str,
    requires: str,
    quotes: bool,
) -> RubricDraft:
    """Return the draft of a rubric from flags.

    Raises:
        ConfigError: something is missing or wrong; the message names the flag.
    """
    if name is None:
        raise ConfigError(f"no name is given: {_EXAMPLE}")
    if not criteria:
        raise ConfigError(f"no criterion is given: {_EXAMPLE}")
    if len(criteria) > MAX_CRITERIA:
        raise ConfigError(f"{len(criteria)} criteria; the limit is {MAX_CRITERIA}")
    if kind == "choice":
        advice = "answer the questions of `judgekit rubric new` in a terminal, or write `options:`"
        raise ConfigError(f"--kind choice: a choice needs its options; {advice} in the file")
    kinds: dict[str, Kind] = {**{word: word for word in KINDS}, "score": "number"}
    if kind not in kinds:
        known = [word for word in KINDS if word != "choice"]
        hint = synonym("kind", kind, known) or suggest(kind, known)
        raise ConfigError(f"--kind {kind}: unknown kind{hint}")
    try:
        needs = needs_of(requires)
    except ValueError as exc:
        raise ConfigError(f"--requires {requires}: {exc}") from exc
    drafts: list[CriterionDraft] = []
    for text in criteria:
        drafts.append(criterion_from(text, [c.id for c in drafts], kind=kinds[kind]))
    *others, last = (draft.id.replace("_", " ") for draft in drafts)
    names = f"{', '.join(others)} and {last}" if others else last
    about = " ".join((description or "").split()) or f"Judge the answer on {names}."
    return RubricDraft(name, about, tuple(drafts), requires=needs, quotes=quotes)


def frame_from(
    name: str | None, *, description: str | None, criteria: Sequence[str]
) -> RubricDraft:
    """Return the draft of a frame, a rubric without criteria.

    Raises:
        ConfigError: the name is missing, or there are criteria.
    """
    if name is None:
        raise ConfigError("no name is given: judgekit rubric new strict --frame")
    if criteria:
        raise ConfigError("--frame: the cases have the criteria; leave out --criterion")
    about = " ".join((description or "").split())
    return RubricDraft(name, about or "Whether the answer meets the criteria of its case.", ())


@cache
def _template(file: str) -> Template:
    # A template for a template: its delimiters differ from those in its output.
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - YAML, and `scalar` quotes every text
    )
    environment.filters |= {"scalar": scalar, "listed": listed, "number": _number}
    return environment.from_string((FILES / file).read_text("utf-8"))


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:g}"


def rubric_text(draft: RubricDraft, *, schema: str) -> str:
    """Return the file of a rubric.

    Args:
        draft: the content.
        schema: path of the schema, relative to the file.
    """
    weighted = len({criterion.weight for criterion in draft.criteria}) > 1
    return _template("new_rubric.txt" if draft.criteria else "new_frame.txt").render(
        **draft._asdict(),
        base=newest_base(),
        schema=schema,
        weighted=weighted,
        fields=FIELD_BY_NAME,
    )


def new_name_fault(name: str, *, folder: Path, force: bool) -> str | None:
    """Return the problem of the name of a new rubric, if any."""
    if fault := name_fault(name):
        return fault
    if name in rubric_names():
        return f"{name!r} is the name of a built-in rubric; choose another"
    path = folder / f"{name}{SUFFIX}"
    if os.path.lexists(path) and not force:
        return f"{path} exists; choose another name, or add --force to replace it"
    return None


def write_rubric(draft: RubricDraft, *, folder: Path, force: bool = False) -> list[Path]:
    """Write a rubric, and its schema for editors if missing; return the files.

    Raises:
        ConfigError: the name is invalid, a file exists, or one cannot be written.
    """
    fault = new_name_fault(draft.name, folder=folder, force=force)
    if fault:
        raise ConfigError(fault if draft.name in fault else f"{draft.name!r}: {fault}")
    schema = folder.parent / SCHEMAS / "rubric.json"
    text = rubric_text(draft, schema=f"../{SCHEMAS}/rubric.json")
    paths = write_all(folder, {f"{draft.name}{SUFFIX}": text}, force=force)
    if not os.path.lexists(schema):
        paths += write_all(schema.parent, {schema.name: small_schema_text("rubric")})
    return paths


def after_rubric(draft: RubricDraft, *, folder: Path) -> list[tuple[str, str]]:
    """Return the next commands and their purposes."""
    file = str(folder / f"{draft.name}{SUFFIX}")
    named = quote(draft.name if folder == Path("rubrics") else file)
    if not draft.criteria:
        ask = f"judgekit rubric test {named} --record new_episodes --judge MODEL"
        suite = f"lists criteria; a suite has points: {{rubric: {draft.name}, calls: 8}}"
        return [(ask, "asks a judge about its tests"), ("judgekit cases criteria FILE", suite)]
    needed = [field for field in (*draft.requires, "output") if field != "baseline"]
    fields = " ".join(f'--{field} "..."' for field in needed)
    return [
        (f"judgekit rubric render {named}", "prints what a judge would see"),
        (f"judgekit score --rubric {named} {fields} --judge MODEL", "scores one case"),
    ]
