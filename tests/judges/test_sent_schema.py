"""The schema that each server gets, by the table of what it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judgekit.judges.sent_schema as module
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Form, Question
from judgekit.judges.sent_schema import rules_of, sent_schema
from judgekit.judges.transport import Server
from tests.each import each

DATA = Path(module.__file__).with_name("data") / "schema_keywords.json"

FORM = Form(
    questions=(
        Question(id="right", kind="boolean", text="Is it right?", quotes=True, nullable=True),
        Question(id="depth", kind="score", text="How deep?", minimum=1, maximum=10),
        Question(id="level", kind="score", text="How good?", labels=("bad", "good")),
        Question(id="parts", kind="checklist", text="Which parts?", items=("x", "y")),
    ),
    max_reason=160,
)


def rules(model, base=None, **options):
    return rules_of(Server(model, base, None, 1, 1, 1, None), **options)


OPENAI, ANTHROPIC = rules("openai/gpt-4o"), rules("anthropic/claude")


def keywords(schema):
    """Return all keywords of a schema that are no names of properties."""
    if isinstance(schema, list):
        return {word for part in schema for word in keywords(part)}
    if not isinstance(schema, dict):
        return set()
    named = ("properties", "$defs")
    below = [part for key, part in schema.items() if key not in named]
    below += [part for key in named for part in schema.get(key, {}).values()]
    return {*schema, *keywords(below)}


@pytest.mark.parametrize(
    ("model", "base", "name"),
    [
        ("openai/gpt-4o", None, "OpenAI"),
        ("openai/gpt-4o", "https://api.openai.com/v1", "OpenAI"),
        ("openai/gpt-4o", "https://eu.api.openai.com/v1/", "OpenAI"),
        ("litellm_proxy/gpt-4o", "https://api.openai.com/v1", "OpenAI"),
        ("anthropic/claude", None, "Anthropic"),
        ("openai/gpt-4o", "http://localhost:8000/v1", None),
        ("openai/gpt-4o", "https://api.openai.com.example/v1", None),
        ("anthropic/claude", "http://localhost:8000", None),
        ("hosted_vllm/qwen", "http://localhost:8000/v1", None),
        ("mistral/small", None, "Mistral"),
        ("openai/mistral-small", "https://api.mistral.ai/v1", "Mistral"),
        ("openai/x", "https://team.openai.azure.com/openai/v1", "Azure OpenAI"),
        ("azure/x", "https://openai.azure.com.example/", None),
        ("openai/x", "https://openai.azure.com/", None),
        ("openai/x", "https://api.groq.com/openai/v1", "Groq"),
        ("cohere/command", None, None),
    ],
)
def test_the_server_decides_and_not_the_name_of_the_model(model, base, name):
    found = rules(model, base)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("model", "base"), [("groq/{}", None), ("openai/{}", "https://api.groq.com/openai/v1")]
)
def test_groq_constrains_some_models(model, base):
    strict, loose = (
        sent_schema(FORM, rules(model.format(name), base))
        for name in ("openai/gpt-oss-20b", "llama-3.3-70b-versatile")
    )

    assert strict.strict
    assert (loose.json_schema, loose.strict) == (reply_schema(FORM).json_schema, False)


@each("row", json.loads(DATA.read_text("utf-8"))["servers"])
def test_each_row_is_whole(row):
    assert row["source"]
    assert row["verified"]
    assert row["hosts"]
    assert not row.get("takes") or not set(row["takes"]) & set(row["left_out"])
    assert set(row["left_out"]) <= set(module._WORDS)
    assert bool(row.get("takes")) == bool(row.get("limits"))
    sent = sent_schema(FORM, rules(f"{row['models'][0]}/{row.get('strict_models', ['x'])[0]}"))
    assert sent.strict is row["strict"]
    assert sent.strict_tools is row.get("strict_tools", False)
    assert not keywords(sent.json_schema) & set(row["left_out"])


def test_a_schema_with_too_many_characters_or_types_is_sent_whole():
    cerebras = rules("cerebras/llama")
    wide = {**CLOSED, "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}
    long = {**CLOSED, "properties": {"a": TEXT | {"title": "x" * 5000}}, "required": ["a"]}

    assert not sent_schema(Form(json_schema=wide), cerebras).strict
    assert not sent_schema(Form(json_schema=long), cerebras).strict
    assert sent_schema(Form(json_schema=wide), OPENAI).strict


def test_an_address_in_the_environment_is_another_server():
    assert rules("openai/gpt-4o", redirected=True) is None


def test_openai_gets_strict_and_bounds_as_words():
    sent = sent_schema(FORM, OPENAI)

    assert sent.strict
    assert "maxLength" not in keywords(sent.json_schema)
    assert {"minimum", "maximum", "minItems", "maxItems"} <= keywords(sent.json_schema)
    reason = sent.json_schema["$defs"]["Answer0"]["properties"]["reason"]
    assert reason == {"title": "Reason", "type": "string", "description": "At most 160 characters."}
    assert sent.response_format("Verdict")["json_schema"]["strict"] is True
    assert sent_schema(FORM, OPENAI) is sent


def test_anthropic_gets_no_numerical_bounds():
    sent = sent_schema(FORM, ANTHROPIC)

    assert not sent.strict
    assert not keywords(sent.json_schema) & {"maxLength", "minimum", "maximum", "maxItems"}
    depth = sent.json_schema["$defs"]["Answer1"]["properties"]["value"]
    assert depth["description"] == "At most 10.0, at least 1.0."


def test_other_servers_get_the_whole_schema():
    sent = sent_schema(FORM, None)

    assert sent.json_schema == reply_schema(FORM).json_schema
    assert "strict" not in sent.response_format("Verdict")["json_schema"]


def test_a_refused_strict_gets_the_whole_schema():
    sent = sent_schema(FORM, OPENAI._replace(strict=False))
    assert (sent.json_schema, sent.strict) == (reply_schema(FORM).json_schema, False)


CLOSED = {"type": "object", "additionalProperties": False}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        {**CLOSED, "properties": {"a": TEXT}, "required": []},
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        {**CLOSED, "properties": {"a": {}}, "required": ["a"]},
        {**CLOSED, "properties": {"a": {"type": "array"}}, "required": ["a"]},
        {**CLOSED, "properties": {"a": {**TEXT, "default": "x"}}, "required": ["a"]},
        {**CLOSED, "properties": {"a": {"oneOf": [TEXT]}}, "required": ["a"]},
        {
            **CLOSED,
            "properties": {"a": {"$ref": "#/$defs/b", "title": "A"}},
            "$defs": {"b": TEXT},
            "required": ["a"],
        },
        {
            **CLOSED,
            "properties": {"a": {"enum": [f"w{n}" for n in range(1001)]}},
            "required": ["a"],
        },
        {"anyOf": [{**CLOSED, "properties": {}, "required": []}]},
        {"type": "array", "items": TEXT},
    ],
)
def test_a_schema_that_does_not_fit_is_sent_whole_and_without_strict(schema):
    sent = sent_schema(Form(json_schema=schema), OPENAI)
    assert (sent.json_schema, sent.strict) == (schema, False)


def test_the_limit_of_nesting():
    def nested(depth):
        schema = TEXT
        for _ in range(depth - 1):
            schema = {**CLOSED, "properties": {"a": schema}, "required": ["a"]}
        return Form(json_schema=schema)

    assert sent_schema(nested(10), OPENAI).strict
    assert not sent_schema(nested(11), OPENAI).strict


def test_names_of_properties_are_no_keywords():
    schema = {**CLOSED, "properties": {"maxLength": TEXT}, "required": ["maxLength"]}
    sent = sent_schema(Form(json_schema=schema), OPENAI)
    assert (sent.json_schema, sent.strict) == (schema, True)


def test_every_row_has_a_source_and_words_for_what_it_leaves_out():
    table = json.loads((Path(module.__file__).parent / "data/schema_keywords.json").read_text())
    for row in table["servers"]:
        assert row["source"]
        assert row["hosts"]
        assert set(row["left_out"]) <= module._WORDS.keys()
        assert not set(row["left_out"]) & set(row.get("takes", ()))
