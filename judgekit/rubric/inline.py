"""Inline rubrics: criteria in a suite, rendered by the template of `base`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.core.yaml_file import Lines
from judgekit.rubric.chain import Layer, chain
from judgekit.rubric.file import CriterionFile
from judgekit.rubric.folders import Folders
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.load import build_rubric
from judgekit.rubric.rubric import Rubric


def inline_rubric(
    name: str,
    criteria: Mapping[str, CriterionFile],
    *,
    description: str | None = None,
    requires: list[str] | None = None,
    file: Path,
    lines: Lines,
) -> Rubric:
    """Return the rubric of criteria that are written in another file.

    It equals a rubric file with this front matter, `extends: base` and no template.
    Weights are rescaled to add up to 1. The digest depends on the settings and not on their
    spelling; the order of criteria and levels counts, because the judge sees it.

    Args:
        name: the name in reports; characters that are invalid in a rubric name become `_`.
        criteria: the criteria by id.
        description: the task, as the judge reads it.
        requires: fields every case must have; `output` by default.
        file: the file that contains them.
        lines: where each setting is in that file.

    Raises:
        RubricError: a setting is wrong; names file and line.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    front: dict[str, Any] = {
        "name": plain if plain[:1].isalpha() else f"r{plain}",
        "extends": "base",
        "weights": "relative",
        "criteria": {id: c.model_dump(exclude_unset=True) for id, c in criteria.items()},
    }
    given = {"description": description, "requires": requires}
    front |= {key: value for key, value in given.items() if value is not None}
    # JSON is YAML, so this is the text of an equal rubric file.
    text = f"---\n{json.dumps(front, ensure_ascii=False)}\n---\n"
    own = f"inline:{front['name']}"
    # Only the built-in base, so that the judge's text depends on the suite alone.
    loader = Folders((builtin_folder(),), inline={own: (file, text)})
    layer = Layer(file, name=own, text=text, data=front, lines=lines)
    return build_rubric(chain(layer, loader), path=file, loader=loader)
