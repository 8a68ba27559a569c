"""Right values of every key of suites and rubrics, to draw files from."""

from __future__ import annotations

from typing import Any

WORDS = {"good": 1, "fair": 0.5, "bad": 0}
ROLES = ("judge", "second", "third")
HISTORY = [
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"a": 1}, "id": "1"}]},
    {"role": "tool", "name": "f", "content": "1"},
]

CASE: dict[str, list[Any]] = {
    "input": ["Why?", None], "output": ["Because.", ""], "system": ["Be kind."],
    "history": [HISTORY, []], "steps": [HISTORY[1:]], "reference": ["a", ["a", "b"]],
    "context": ["c", ["c"]], "baseline": ["Yes."], "choices": [["a", "b"]],
    "expected": [{"facts": ["a"]}, {"criteria": [{"criterion": "Is it short?", "points": 5}]}],
    "parent": ["original"], "labels": [{"first": 1}], "metadata": [{"topic": "refunds", "n": 3}],
}  # fmt: skip
ROW = {
    **CASE, "id": ["a"], "metadata.plan": ["free", 3],
}  # fmt: skip
"""Fields of a row of a suite."""

DETAILS = [
    {"why": "In a word."}, {"worst": {"kind": "text", "text": "The worst sentence."}},
    {"sure": {"kind": "boolean"}, "all": {"kind": "list", "text": "All."}},
]  # fmt: skip
LEVELS = [WORDS, {"good": {"value": 1, "text": "Kind."}, "bad": 0}]
CRITERION_SHAPES: list[dict[str, Any]] = [
    {}, {"kind": "boolean"}, {"kind": "score"}, {"kind": "number"},
    {"kind": "levels", "levels": WORDS}, {"levels": LEVELS[1]}, {"kind": "score", "levels": WORDS},
    {"options": {"yes": 1, "no": 0, "n/a": None}}, {"kind": "choice", "options": WORDS},
    {"kind": "checklist"}, {"items": ["a", "b"]}, {"kind": "checklist", "items": ["a"]},
    {"minimum": 1, "maximum": 5}, {"kind": "number", "maximum": 10},
]  # fmt: skip
CRITERION: dict[str, list[Any]] = {
    "quotes": [True, False], "reverse": [True], "details": DETAILS,
    "lint": [{"vague-criterion": "It is clear to us."}, {}],
}  # fmt: skip
TEXTS = ["Is it kind?", "How clear is it?"]

JUDGE: dict[str, list[Any]] = {
    "api_base": ["http://127.0.0.1:9/v1"], "api_key_env": ["PATH", None],
    "headers": [{"X-Team": "blue"}, {"X-Team": "${PATH}", "X-Id": "1"}, {}],
    "params": [{"temperature": 0, "max_tokens": 500}, {"stop": ["a"], "seed": 1}, {}],
    "identity": ["r1"], "max_reason": [20, 160, 20_000],
    "mode": ["json_schema", "json_object_schema", "tools", "json_object", "text", None],
    "via": ["litellm", None], "timeout": [0.5, 60], "retries": [0, 4], "max_wait": [0, 5.5],
    "reasks": [0, 3], "cache": ["none", "auto"],
    "price": [{"input": 0, "output": 1.5, "cache_read": 0, "cache_write": 2}, None],
}  # fmt: skip
TIERS: list[dict[str, Any]] = [
    {}, {"tier": "standard", "fallback_tier": None}, {"tier": "flex"}, {"tier": "batch"},
    {"tier": "flex", "fallback_tier": "none"}, {"tier": "batch", "fallback_tier": "flex"},
]  # fmt: skip
DECISIONS: dict[str, list[Any]] = {"api": ["decisions", "systemone"], "timeout": [5]}
LIMITS: dict[str, list[Any]] = {
    "concurrency": [1, 4096, "auto"], "rpm": [1, 10**9, "auto", None], "tpm": [10**12, "auto"],
    "max_failures": [0, 9], "max_fallback": [3], "max_outages": [0, 5], "max_cost": [0.01, 5, None],
    "batch_wait": ["90s", "24h", None],
}  # fmt: skip
CASES: dict[str, list[Any]] = {
    "format": ["auto", "rows", "chat", "mastra", "turns", "mmlu", "gsm8k", "humaneval", None],
    "container": ["auto", "jsonl", "json", "yaml", "csv", "parquet", "excel"],
    "fields": [{"input": "prompt", "output": "response"}, {}], "thoughts": ["drop", "keep"],
    "sheet": ["One"], "delimiter": [";"], "encoding": ["cp1252"], "limit": [1, 10**12],
}  # fmt: skip
EMBEDDERS: list[Any] = [
    "lexical", {"model": "openai/small"}, {"role": "second"}, "litellm:openai/small", None,
    {"model": "openai/small", "api_base": "http://127.0.0.1:9/v1", "retries": 1},
]  # fmt: skip
SUITE: dict[str, list[Any]] = {
    "$schema": ["suite.schema.json"], "name": ["mine"], "description": ["A suite."],
    "notice": ["Read this."], "cassette": ["tape.jsonl"], "rubrics": ["rubrics", ["rubrics"]],
    "record": ["none", "new_episodes", "all", None], "embedder": EMBEDDERS,
    "cluster": ["user"], "gate": [
        {"undecided": "pass"}, {"undecided": "fail", "cost": 0}, {"baseline": "old", "cost": 2.5},
    ],
    "labels": ["labels.jsonl"], "calibration": [{"kappa": 0.6}, {"kappa": 1, "spearman": 0.5}],
    "redact": [
        ["email", "[0-9]+"], [{"find": "iban"}], [{"pattern": "A[0-9]", "replace": "x"}],
        [{"pattern": "B+", "name": "ORDER"}], [],
    ],
    "redact_salt_env": ["PATH"],
}  # fmt: skip

GATES: dict[str, list[Any]] = {
    "where": [{"topic": "refunds"}, {"topic": ["a", 3], "new": True}], "cluster": ["user"],
    "undecided": ["pass", "fail"], "constant": ["pass", "fail"], "mean": [0.5, 0, 1], "min": [0],
    "max": [1], "coverage": [0.9], "abstained": [3, "5%"], "failed": [0, "0.5%"],
    "fallback": ["100%"], "left_out": [0], "empty_answers": [2],
}  # fmt: skip
METRIC: dict[str, list[Any]] = {
    "threshold": [0.5, 0, 1, None],
    "gate": [{"mean": 0.4}, [{"mean": 0.4}, {"where": {"topic": "a"}, "min": 0}], []],
}  # fmt: skip
JUDGED: dict[str, list[Any]] = {
    "order": ["written", "balanced"], "calls": ["all", "each", 1, 7], "max_reason": [20, 160],
    "samples": [1, 3],
    "fallback": [
        "coherence_rules", {"use": "length", "maximum": 9}, None,
        {"use": "length", "maximum": 9, "on_budget": True},
    ],
}  # fmt: skip
BY_RUBRIC: dict[str, list[Any]] = {"history": [0, 5], "scale": [5, 100]}
VOTERS: list[dict[str, Any]] = [
    {}, {}, {"judge": "second"}, {"jury": ["judge", "second"]},
    {"jury": ["judge", "second", "third"], "vote": "majority", "quorum": 2},
    {"jury": ["second", "third"], "vote": "mean", "quorum": 1},
    {"jury": {"judge": 1, "second": 0.5}, "vote": "weighted"},
]  # fmt: skip
READOUTS: list[dict[str, Any]] = [{}, {"readout": "expected", "samples": 4},
    {"readout": "mode", "samples": 2}, {"readout": "yes", "samples": 3}]  # fmt: skip
COMPUTED: list[dict[str, Any]] = [
    {"metric": "length", "maximum": 9, "unit": "words"}, {"metric": "contains", "any_of": ["a"]},
    {"metric": "regex", "pattern": "a+"}, {"metric": "rouge"}, {"metric": "exact_match"},
    {"metric": "similarity", "embedder": "lexical"},
]  # fmt: skip
NAMED: list[dict[str, Any]] = [
    {"rubric": "quality"}, {"rubric": "safety", "mode": "default"}, {"rubric": "safety"},
    {"rubric": "prompt_alignment", "mode": "user"}, {"rubric": "quality@1"},
    {"rubric": "plain.jinja"},
    {"rubric": "set.jinja", "parameters": {"reader": "a child", "most": 5}},
    {"rubric": "set.jinja", "parameters": {"kinds": ["a", "b"]}},
]  # fmt: skip
OTHER: list[dict[str, Any]] = [
    {"metric": "log_likelihoods", "likelihood": "second"}, {"pairwise": "preference"},
    {"pairwise": "preference", "with": "reference"},
    {"pairwise": "preference", "with": "baseline"},
]  # fmt: skip
INLINE: dict[str, list[Any]] = {
    "description": ["Judge the answer."], "requires": [["output"], ["input", "output"]],
}  # fmt: skip
PARTS: list[dict[str, Any]] = [
    {"combine": "mean", "of": ["first", "second"]}, {"of": ["first"]},
    {"combine": "weighted_mean", "of": ["first", "second"], "weights": {"first": 3, "second": 1}},
    {"combine": "min", "of": ["second"]},
]  # fmt: skip

RUBRIC: dict[str, list[Any]] = {
    "$schema": ["rubric.schema.json"], "version": [1, 7], "description": ["Judges."],
    "requires": [["output"], []], "combine": ["weighted_mean", "min", "all"],
    "weights": ["fractions", "relative", "points"], "abstract": [False], "details": DETAILS,
    "lint": [{"missing-tests": "They are elsewhere."}], "renamed": [{"old": "c0"}],
}  # fmt: skip
PARAMETERS: list[dict[str, Any]] = [
    {"reader": "adults"}, {"reader": {"kind": "text", "description": "Who reads."}},
    {"reader": {"kind": "number", "minimum": 0, "maximum": 9, "default": 2.5}},
    {"reader": {"kind": "integer", "default": 2}}, {"reader": True},
    {"reader": {"choices": ["a", "b"], "default": "a"}}, {"reader": ["a", "b"]},
    {"reader": {"kind": "list", "choices": ["a", "b"]}}, {"reader": {"kind": "boolean"}},
]  # fmt: skip
"""Declarations of the one parameter that the rubric's text names."""
BY_FILE: list[dict[str, Any]] = [
    {"file": "rows.jsonl"}, {"file": "rows.jsonl", "count": 2, "choose": "first"},
    {"file": "rows.jsonl", "metric": "mine", "cases": "cases.jsonl", "choose": "spread"},
]  # fmt: skip
EXPECTATIONS: list[dict[str, Any]] = [
    {"min": 0.4, "max": 0.6}, {"status": "scored"}, {"min": 1}, {"max": 0},
]  # fmt: skip

_CRITERION = "criteria: {a: {text: Is it kind?, kind: boolean}}\n"
FILES = {
    "cases.jsonl": '{"id": "a", "output": "Yes."}\n',
    "verdicts.jsonl": '{"case": "a", "rubric": "first", "answers": {"c0": {"value": 1}}}\n',
    "answers.yaml": "",
    "labels.jsonl": '{"case": "a", "metric": "second", "labeller": "ann", "value": 1}\n'
    '{"case": "a", "metric": "both", "labeller": "ann", "value": 1}\n',
    "rows.jsonl": '{"case": {"output": "Yes."}, "answers": {"c0": true}, "metric": "mine"}\n' * 4,
    "plain.jinja": f"---\nname: plain\nextends: base\n{_CRITERION}---\n",
    "set.jinja": (
        "---\nname: set\nextends: base\ncriteria:\n"
        "  a: {text: 'Is it kind to {{ parameters.reader }}, in {{ parameters.most }} words of {{"
        " parameters.kinds }}?', kind: boolean}\n"
        "parameters: {reader: us, most: {default: 3, minimum: 1}, kinds: [a, c]}\n---\n"
    ),
    "rubrics/other.jinja": f"---\nname: other\nextends: base\n{_CRITERION}---\n",
    "old/results.jsonl": "",
}
"""Files that drawn files name."""
