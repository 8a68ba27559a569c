"""The suite file, key by key, from the models that read it."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from docs.generate.fields import fields_said
from judgekit.privacy.rules import RuleFile
from judgekit.suite.file import (
    CasesFile,
    FallbackFile,
    LimitsFile,
    MetricFile,
    RunGateFile,
    SuiteFile,
)
from judgekit.suite.judge_file import JudgeFile, PriceFile

HEAD = """# The suite file

A suite names the cases, the metrics and the judge. It is YAML without tags or code. An unknown key is an error that suggests the closest
known key. `judgekit schema suite` prints its JSON Schema for completion and checks in an editor; `judgekit init` sets that up. `python -m docs.generate`
writes this page from the same models.

Paths are relative to the suite. Flags override the file: `--judge`, `--record`, `--only`, `--limit`, `--param`, `--set`, `--baseline`, `--max-failures`; see `judgekit run --help`.

`cases.jsonl`:

```json
{"id": "hours", "prompt": "When do you open?", "response": "At nine, every day.", "metadata": {"topic": "visit"}}
```

`suite.yaml`:

```yaml
name: Desk
cases: {path: cases.jsonl, fields: {input: prompt, output: response}}
judge: {model: openai/gpt-6-luna, timeout: 60}
cassette: cassettes/desk.jsonl
redact: [email, phone]
metrics:
  quality: {samples: 3, threshold: 0.6, gate: {mean: 0}}
  brief:   {metric: length, unit: words, maximum: 40}
  overall: {combine: min, of: [quality, brief]}
gate: {cost: 1.00}
limits: {concurrency: 8, max_cost: 2.00}
```

```console
$ judgekit run suite.yaml --judge openai/gpt-6-luna
$ judgekit schema suite > suite.schema.json
```
"""
SECTIONS: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("The file", "Only `metrics` is required; `--cases` can replace `cases`.", SuiteFile),
    (
        "`cases`",
        "A path alone is short for `{path: ...}`. [Cases](cases.md) describes the row formats.",
        CasesFile,
    ),
    (
        "`judge`, and each of `judges`",
        "A model alone is short for `{model: ...}`; `none` means no judge. [Judges](judges.md) has a suite for each kind.",
        JudgeFile,
    ),
    (
        "`price` of a judge",
        "US dollars per million tokens, if litellm does not know the price or yours differs.",
        PriceFile,
    ),
    (
        "Each of `metrics`",
        "The key is the name in the results: a metric, a rubric, or your own name with `metric:`. All other keys are options of the metric: see the [reference](metrics/reference.md). [Gates](gates.md) describes `gate`.",
        MetricFile,
    ),
    (
        "`fallback` of a metric",
        "A name alone is short for `{use: ...}`. Other keys are options of the fallback.",
        FallbackFile,
    ),
    ("`gate` of the suite", "Settings for the [gates](gates.md) of all metrics.", RunGateFile),
    ("`limits`", "", LimitsFile),
    (
        "Each of `redact`",
        "The name of a built-in pattern, or your own pattern: see [redaction](redaction.md).",
        RuleFile,
    ),
)


def suite_page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(_section(*section) for section in SECTIONS)])


def _section(title: str, text: str, model: type[BaseModel]) -> str:
    said = dict(fields_said(model))
    rows = "".join(
        f"| `{field.alias or name}` | {_default(field)} | {_cell(said.get(name, ''))}"
        f"{_choices(field.annotation)} |\n"
        for name, field in model.model_fields.items()
    )
    before = f"{text}\n\n" if text else ""
    return f"## {title}\n\n{before}| key | default | |\n| --- | --- | --- |\n{rows}"


def _choices(kind: Any) -> str:
    """Return the values of a key with a fixed set of values."""
    words = get_args(kind) if get_origin(kind) is Literal else ()
    for inside in get_args(kind) if not words else ():
        if get_origin(inside) is Literal:
            words = get_args(inside)
    return f" One of {', '.join(f'`{word}`' for word in words)}." if words else ""


def _default(field: object) -> str:
    default = getattr(field, "default", None)
    if default is PydanticUndefined:
        return "" if getattr(field, "default_factory", None) else "needed"
    if default is None or isinstance(default, BaseModel):
        return ""
    return f"`{json.dumps(default) if isinstance(default, bool) else default}`"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("|", "\\|")).strip()
