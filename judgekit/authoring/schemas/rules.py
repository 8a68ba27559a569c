"""What the models check between keys, as rules of JSON Schema."""

from __future__ import annotations

from itertools import combinations
from typing import Any, get_args

from judgekit.core.case_field import EVIDENCE
from judgekit.embedders import MODELS
from judgekit.judges.kinds import KINDS
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import find
from judgekit.privacy.rules import Builtin
from judgekit.report.gate import CONSTANT, SETTINGS
from judgekit.suite.judge_file import ROLE
from judgekit.suite.plan import JURY_KEYS, OF_ONE_METRIC, SUBJECTS

LOCAL_KINDS = [name for name, kind in KINDS.items() if name and not kind.server]
"""The kinds of judges behind no server."""


def close_criterion(criterion: dict[str, Any]) -> None:
    """Add to the schema of a criterion what its model checks; for rubrics and suites."""
    fields = criterion["properties"]
    for words in ("levels", "options"):
        for kind in fields[words]["anyOf"]:
            if kind.get("type") == "object":
                kind["minProperties"] = 2
    fields["items"]["uniqueItems"] = True
    fields["weight"]["not"] = {"const": 0}
    fields["details"]["propertyNames"] = {"not": {"enum": ["reason", "value", "quotes", "items"]}}
    value = {"properties": {"value": {"not": {"type": "null"}}}, "required": ["value"]}
    valued = {"additionalProperties": {"not": {"type": "null"}, **value}}
    listed = {"anyOf": [has("items"), with_key("kind", {"const": "checklist"})]}
    criterion["allOf"] = [
        only("levels", "score", "levels"),
        *(only(key, "score", "levels", "number") for key in ("minimum", "maximum")),
        only("options", "choice"),
        only("items", "checklist"),
        {"if": with_key("kind", {"const": "choice"}), "then": has("options")},
        {"if": with_key("kind", {"const": "levels"}), "then": has("levels")},
        {"if": with_key("kind", {"const": "number"}), "then": {"not": has("levels")}},
        {"if": has("levels"), "then": {"not": has("minimum")}},
        {"if": has("levels"), "then": {"properties": {"levels": valued}}},
        {"if": listed, "then": {"properties": {"nullable": {"const": False}}}},
    ]


def with_key(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the rule that there is a mapping in which a key has a certain value."""
    return {"type": "object", "required": [key], "properties": {key: value}}


def has(key: str) -> dict[str, Any]:
    """Return the rule that there is a mapping in which a key has a value other than null."""
    return with_key(key, {"not": {"type": "null"}})


def only(key: str, kind: str, *also: str) -> dict[str, Any]:
    """Return the schema rule that a key is only allowed for one kind of criterion.

    Args:
        key: the key.
        kind: the kind.
        also: other words for the kind.
    """
    others = {"choice": "options", "checklist": "items"}
    implied = [{"not": has(other)} for k, other in others.items() if k != kind]
    known = {"enum": [kind, *also]}
    rule = {"if": has("kind"), "then": {"properties": {"kind": known}}}
    if kind == "score":
        return {"if": has(key), "then": {**rule, "else": {"allOf": implied}}}
    if key == "items":  # options imply a choice, also beside items; no items imply nothing
        rule["else"] = {"not": has("options"), "properties": {"items": {"minItems": 1}}}
    return {"if": has(key), "then": rule}


# -- suites -------------------------------------------------------------------------

_NOT_EMPTY: dict[str, Any] = {"not": {"enum": [None, "", 0, False, [], {}]}}
_ASKING = ("jury", *JURY_KEYS)
_OF_A_JUDGE = ("judge", "likelihood", *_ASKING, "fallback")


def none_of(*keys: str) -> dict[str, Any]:
    """Return the rule that none of some keys has a value."""
    return {"properties": {key: {"type": "null"} for key in keys}}


def is_true(key: str) -> dict[str, Any]:
    """Return the rule that a key is `true`."""
    return with_key(key, {"const": True})


def kind_rules(*, judged: bool, asks: str, pairwise: bool) -> dict[str, Any]:
    """Return which keys a metric of a kind does not take.

    Args:
        judged: whether it needs a judge.
        asks: what it asks for: `verdict`, `logprobs` or `nothing`.
        pairwise: whether it compares two answers.
    """
    without: list[str] = [] if pairwise else ["with"]
    if not judged:
        without += _OF_A_JUDGE
    else:
        without.append("judge" if asks == "logprobs" else "likelihood")
        without += () if asks == "verdict" else _ASKING
    rule = none_of(*dict.fromkeys(without))
    if not judged:
        rule["properties"]["parameters"] = {"enum": [None, {}]}
    return rule


def entry_rules() -> dict[str, Any]:
    """Return the rules between the keys of any entry under `metrics`."""
    combined = {"anyOf": [has("of"), has("combine")]}
    others: list[dict[str, Any]] = [
        {"not": {"allOf": [has(one), has(other)]}}
        for one, other in combinations(SUBJECTS, 2)
        if (one, other) != ("metric", "rubric")
    ]
    framed = [name for name, own in BUILTIN.items() if own.judged and find(name).takes("rubric")]
    both = {"allOf": [has("metric"), has("rubric")]}
    others.append({"if": both, "then": with_key("metric", {"enum": framed})})
    of_jury = with_key("jury", {"type": "object"})
    passes = with_key("gate", any_gate(has("pass_rate")))
    weighted = with_key("combine", {"const": "weighted_mean"})
    combination = [
        with_key("of", {"type": "array", "minItems": 1, "uniqueItems": True}),
        none_of(*OF_ONE_METRIC),
        {"if": has("weights"), "then": weighted},
        {"if": weighted, "then": has("weights")},
    ]
    return {
        "allOf": [
            *others,
            {"if": {"anyOf": [has("quorum"), has("vote")]}, "then": has("jury")},
            {"not": {"allOf": [has("jury"), has("judge")]}},
            {"if": of_jury, "then": with_key("vote", {"const": "weighted"})},
            {"if": with_key("vote", {"const": "weighted"}), "then": of_jury},
            {"if": {"not": has("criteria")}, "then": none_of("description", "requires")},
            {"if": combined, "then": {"allOf": combination}},
            {"if": passes, "then": with_key("threshold", {"type": "number"})},
        ]
    }


def any_gate(rule: dict[str, Any]) -> dict[str, Any]:
    """Return the rule that one of the gates of a metric meets a rule."""
    return {"anyOf": [rule, {"type": "array", "contains": rule}]}


def close_gates(gate: dict[str, Any]) -> None:
    """Add the rules of a gate: a bound is no null, and settings need a bound."""
    for name, entry in gate["properties"].items():
        if isinstance(entry.get("anyOf"), list) and name not in (*SETTINGS, CONSTANT):
            entry["anyOf"] = [kind for kind in entry["anyOf"] if kind != {"type": "null"}]
    bounded = {"not": {"propertyNames": {"enum": list(SETTINGS)}}}
    where = with_key("where", {"minProperties": 1})
    any_labels = with_key("labels", is_true("any"))
    mean = {"propertyNames": {"enum": [*SETTINGS, "mean", CONSTANT]}}
    gate["allOf"] = [
        {"if": where, "then": bounded},
        {"if": {"allOf": [any_labels, bounded]}, "then": is_true("corrected")},
        {"if": is_true("corrected"), "then": mean},
    ]


def suite_rules() -> list[dict[str, Any]]:
    """Return the rules between the gates of metrics and the keys of a suite."""
    corrected = any_gate({"allOf": [is_true("corrected"), has("mean")]})
    compared = any_gate(has("not_worse"))

    def unless(needed: dict[str, Any], gate: dict[str, Any]) -> dict[str, Any]:
        entries = {"additionalProperties": {"not": with_key("gate", gate)}}
        return {"if": {"not": needed}, "then": {"properties": {"metrics": entries}}}

    one_role = {"allOf": [has("judge"), with_key("judges", has("judge"))]}
    return [
        {"not": one_role},
        unless(has("labels"), corrected),
        unless(with_key("gate", has("baseline")), compared),
    ]


def close_judges(suite: dict[str, Any]) -> None:
    """Add the rules of judges: a model or recorded verdicts, and what each kind takes."""
    named = {"type": "string", "minLength": 1, "not": {"pattern": "^recorded/"}}
    judges = suite["properties"]["judges"]
    judges["additionalProperties"] = False
    for place in (suite["properties"]["judge"], judges["patternProperties"][ROLE]):
        place["anyOf"] = [named, *(kind for kind in place["anyOf"] if kind.get("type") != "string")]
    judge = suite["$defs"]["JudgeFile"]
    recorded = with_key("recorded", {"type": "string"})
    empty = {"additionalProperties": {"not": _NOT_EMPTY}, "properties": {"recorded": {}}}
    headers = with_key("headers", {"minProperties": 1})
    local = with_key("model", {"pattern": f"^({'|'.join(LOCAL_KINDS)})/"})
    manual = with_key("model", {"pattern": "^manual/"})
    unset = [{"not": {"required": [name]}} for name in ("reasks", "cache", "tier")]
    of_chats = {"allOf": [none_of("mode", "max_reason", "via", "fallback_tier"), *unset]}
    flex, batch = (with_key("tier", {"const": name}) for name in ("flex", "batch"))
    other = with_key("fallback_tier", {"const": "flex"})
    tiered = {"anyOf": [flex, batch]}
    cached = with_key("cache", {"const": "auto"})
    judge["properties"]["headers"] |= {
        "maxProperties": 50,
        "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$"},
    }
    judge["allOf"] = [
        {"if": recorded, "then": empty, "else": {"required": ["model"]}},
        {"if": {"anyOf": [headers, has("api"), tiered, cached]}, "then": {"not": local}},
        {"if": has("fallback_tier"), "then": tiered},
        {"not": {"allOf": [flex, other]}},
        {"not": {"allOf": [batch, with_key("fallback_tier", {"const": "none"})]}},
        {
            "if": {"anyOf": [flex, other]},
            "then": {"not": with_key("params", {"required": ["service_tier"]})},
        },
        {"if": has("api"), "then": of_chats},
        {"if": with_key("answers", _NOT_EMPTY), "then": manual},
        {"not": with_key("model", {"pattern": "^recorded/"})},
    ]
    del judge["anyOf"]


def embedder_schema(judge: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an embedder: a name, a role, a hosted model or a local one.

    Args:
        judge: the schema of the settings of a hosted model.
    """
    local = [{"required": [kind]} for kind in MODELS]
    return {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {**with_key("role", {"type": "string"}), "maxProperties": 1},
            {"required": ["model"], **judge},
            {"type": "object", "oneOf": local, "not": {"required": ["model"]}},
        ]
    }


def close_redaction(suite: dict[str, Any]) -> None:
    """Add the rules of a redaction rule: a built-in one, or a pattern with what replaces it."""
    named = [{"enum": list(get_args(Builtin))}, {"not": {"pattern": r"^[A-Za-z][\w -]*$"}}]
    kinds = suite["properties"]["redact"]["items"]["anyOf"]
    text = next(kind for kind in kinds if kind.get("type") == "string")
    text |= {"minLength": 1, "anyOf": named}
    rule = suite["$defs"]["RuleFile"]
    for kind in rule["properties"]["name"]["anyOf"]:
        if kind["type"] == "string":
            kind["pattern"] = "^[A-Za-z][A-Za-z0-9_]{0,39}$"
    rule["oneOf"] = [has("find"), has("pattern")]
    rule["allOf"] = [
        {"if": has("find"), "then": {"maxProperties": 1}},
        {"if": has("name"), "then": {"not": {"required": ["replace"]}}},
    ]


# -- rubrics ------------------------------------------------------------------------


def close_parameter(parameter: dict[str, Any]) -> None:
    """Add the rules of a parameter whose kind is given; an extended file may give the rest."""
    number = {"anyOf": [has("minimum"), has("maximum")]}
    parameter["properties"]["choices"]["uniqueItems"] = True
    parameter["allOf"] = [
        {
            "if": {"allOf": [has("kind"), number]},
            "then": with_key("kind", {"enum": ["number", "integer"]}),
        },
        {
            "if": {"allOf": [has("kind"), has("choices")]},
            "then": with_key("kind", {"enum": ["choice", "list"]}),
        },
    ]


def close_tests(defs: dict[str, Any]) -> None:
    """Add the rules of tests: what can be expected of a criterion and of the whole value."""
    expect, quotes, test = (defs[name] for name in ("ExpectFile", "QuotesFile", "TestFile"))
    unscored = with_key("status", {"not": {"enum": [None, "scored"]}})
    expect["minProperties"] = 1
    expect["allOf"] = [{"if": unscored, "then": none_of("min", "max", "answer")}]
    text = {"pattern": r"\S"}
    quotes["properties"]["contain"] = {
        **quotes["properties"]["contain"],
        "allOf": [{**text, "items": text}],
    }
    quotes["anyOf"] = [with_key("contain", {"minItems": 1, "minLength": 1}), has("from")]
    quotes["properties"]["from"]["anyOf"] = [{"enum": list(EVIDENCE)}, {"type": "null"}]
    refused = with_key("status", {"const": "invalid_case"})
    whole = {"type": "object", **none_of("answer", "quotes")}
    test["properties"]["expect"] |= {
        "properties": {"value": {**test["properties"]["expect"]["additionalProperties"]}},
        "allOf": [
            {"properties": {"value": whole}, "additionalProperties": {"not": refused}},
            {"if": with_key("value", refused), "then": {"maxProperties": 1}},
        ],
    }
    test["properties"]["name"] |= {"pattern": r"^[\w.+-]+$"}
