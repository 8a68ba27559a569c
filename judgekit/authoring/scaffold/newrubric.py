"""A new rubric file from flags or answers, checked before it is written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from judgekit.authoring.scaffold.draft import (
    KINDS,
    CriterionDraft,
    Kind,
    RubricDraft,
    criterion_from,
    name_fault,
    rubric_text,
)
from judgekit.authoring.scaffold.interview import needs_fault, needs_of
from judgekit.authoring.scaffold.project import SCHEMAS
from judgekit.authoring.scaffold.writing import write_all
from judgekit.authoring.schemas import small_schema_text
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.rubric.file import MAX_CRITERIA
from judgekit.rubric.library import SUFFIX, rubric_names


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
    example = 'judgekit rubric new tone --criterion "Is the answer friendly?"'
    if name is None:
        raise ConfigError(f"no name is given: {example}")
    if not criteria:
        raise ConfigError(f"no criterion is given: {example}")
    if len(criteria) > MAX_CRITERIA:
        raise ConfigError(f"{len(criteria)} criteria; the limit is {MAX_CRITERIA}")
    if kind == "choice":
        raise ConfigError(
            "--kind choice: a choice needs its options; answer the questions of "
            "`judgekit rubric new` in a terminal, or write `options:` in the file"
        )
    kind = "number" if kind == "score" else kind
    if kind not in KINDS:
        known = [word for word in KINDS if word != "choice"]
        raise ConfigError(f"--kind {kind}: unknown kind{suggest(kind, known)}")
    fault = needs_fault(requires)
    if fault:
        raise ConfigError(f"--requires {requires}: {fault}")
    chosen: Kind = next(word for word in KINDS if word == kind)
    drafts: list[CriterionDraft] = []
    for text in criteria:
        drafts.append(criterion_from(text, [c.id for c in drafts], kind=chosen))
    about = " ".join((description or "").split()) or f"Judge the answer on {_names(drafts)}."
    return RubricDraft(
        name=name,
        description=about,
        criteria=tuple(drafts),
        requires=needs_of(requires),
        quotes=quotes,
    )


def _names(criteria: Sequence[CriterionDraft]) -> str:
    names = [criterion.id.replace("_", " ") for criterion in criteria]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def new_name_fault(name: str, *, folder: Path, force: bool) -> str | None:
    """Return the problem of the name of a new rubric, if any."""
    fault = name_fault(name)
    if fault:
        return fault
    if name in rubric_names():
        return f"{name!r} is the name of a built-in rubric; choose another"
    path = folder / f"{name}{SUFFIX}"
    if os.path.lexists(path) and not force:
        return f"{path} exists; choose another name, or add --force to replace it"
    return None


def write_rubric(draft: RubricDraft, *, folder: Path, force: bool = False) -> list[Path]:
    """Write a rubric, and its schema for editors if there is none; return the files.

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
    from shlex import quote

    named = draft.name if folder == Path("rubrics") else str(folder / f"{draft.name}{SUFFIX}")
    named = quote(named)
    fields = " ".join(f'--{field} "..."' for field in (*draft.requires, "output")
                      if field != "baseline")  # fmt: skip
    return [
        (f"judgekit rubric render {named}", "prints what a judge would see"),
        (f"judgekit score --rubric {named} {fields} --judge MODEL", "scores one case"),
    ]
