"""A rubric written in a suite: criteria and nothing else, in the frame of `base`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.core.yaml_file import Lines
from judgekit.rubric.chain import Layer, chain_from
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
    """Return the rubric of criteria written in another file.

    It is the rubric that a file with this front matter, `extends: base` and no template makes.
    Weights are rescaled to add up to 1. The digest is that of the settings, however they are
    spelled; the order of criteria and levels counts, because the judge sees it.

    Args:
        name: what reports call the rubric; characters that no rubric name has become `_`.
        criteria: the criteria by id.
        description: the task, as the judge reads it.
        requires: fields every case must have; `output` by default.
        file: the file they are written in.
        lines: where each setting is in that file.

    Raises:
        RubricError: with file and line, for anything wrong in the settings.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    front: dict[str, Any] = {
        "name": plain if plain[:1].isalpha() else f"r{plain}",
        "extends": "base",
        "weights": "relative",
        "criteria": {id: c.model_dump(exclude_unset=True) for id, c in criteria.items()},
    }
    if description is not None:
        front["description"] = description
    if requires is not None:
        front["requires"] = requires
    # JSON is YAML, so this is the text of the rubric file it replaces.
    text = f"---\n{json.dumps(front, ensure_ascii=False)}\n---\n"
    own = f"inline:{front['name']}"
    # Only the built-in base: the text a judge sees depends on the suite alone.
    loader = Folders((builtin_folder(),), inline={own: (file, text)})
    layer = Layer(file, name=own, text=text, data=front, lines=lines)
    return build_rubric(chain_from(layer, loader), path=file, loader=loader)
