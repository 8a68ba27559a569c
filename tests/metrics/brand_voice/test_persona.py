from __future__ import annotations

import asyncio

import pytest
from typer.testing import CliRunner

from judgekit.authoring.lint.persona import lint_personas, persona_rules
from judgekit.authoring.lint.text import lint_text
from judgekit.authoring.schemas import schema
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.metrics.brand_voice.persona import Persona, load_persona, persona_of

OURS = """\
name: Acme
traits: {formality: business_casual, tone: friendly, verbosity: concise}
lexicon: {preferred: [happy to help], avoid: [lol]}
exemplars: [Happy to help with that.]
safety_rules: {disallowed_topics: [politics]}
brand_notes: We never joke.
"""
DOCUMENTED = """\
id: acme
display_name: Acme
voice:
  formality: business_casual
  tone: [friendly]
  verbosity: concise
  lexicon:
    preferred: [happy to help]
    avoided: [lol]
examples:
  - Happy to help with that.
safety_rules: {disallowed_topics: politics, brand_notes: We never joke.}
"""


def put(tmp_path, text, name="acme.yaml"):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    return file


def test_both_spellings_are_the_same_persona(tmp_path):
    ours = load_persona(put(tmp_path, OURS))
    documented = load_persona(put(tmp_path, DOCUMENTED, "other.yaml"))

    assert ours.digest == documented.digest
    assert ours.name == "Acme"
    assert ours.traits == (
        ("formality", "business_casual"), ("tone", "friendly"), ("verbosity", "concise"),
    )  # fmt: skip
    assert ours.exemplars == ("Happy to help with that.",)
    assert (ours.preferred.entries, ours.avoided.entries) == (("happy to help",), ("lol",))
    assert (ours.topics, ours.notes) == (("politics",), "We never joke.")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("name: A\nexampels: [x]\n", 2, "unknown key 'exampels'; did you mean 'examples'?"),
        ("name: A\nlexicon:\n  avoidd: [x]\n", 3, "unknown key 'lexicon.avoidd'; did you mean"),
        ("name: A\nlexicon: {avoid: [x], avoided: [y]}\n", 2, "avoid or avoided, not both"),
        ("name: A\nexamples: [x]\nexemplars: [y]\n", 1, "exemplars or examples, not both"),
        ("lexicon: {avoid: [x]}\nvoice: {lexicon: {avoid: [y]}}\n", 1, "lexicon or voice.lexicon"),
        ("traits: {tone: friendly}\nvoice: {tone: friendly}\n", 1, "give traits, or the same"),
        ("traits:\n  formality: cosy\n", 2, "formality"),
        ("traits:\n  tone: [freindly]\n", 2, "'freindly' is not a tone; did you mean 'friendly'?"),
        ("lexicon:\n  preferred:\n    - no\n", 3, 'write false, or "no" in quotes'),
        ("lexicon: {preferred: ['  ']}\n", 1, "contains a blank text"),
        ("- a\n", None, "a persona is keys and values"),
        ("", None, "a persona is keys and values"),
        ("a: [\n", 2, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, line, message):
    file = put(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        load_persona(file)

    where = f"{file}:{line}: " if line else f"{file}: "
    assert str(caught.value).startswith(where)
    assert message in str(caught.value)


def test_a_persona_may_be_given_in_place():
    persona = persona_of("m", {"exemplars": "Hello."})

    assert persona_of("m", persona) is persona
    assert persona.exemplars == ("Hello.",)
    with pytest.raises(ConfigError, match="m: persona: unknown key 'exemplar'; did you mean"):
        persona_of("m", {"exemplar": "Hello."})
    with pytest.raises(ConfigError, match="persona must be a file or a mapping, not 3"):
        persona_of("m", 3)


def test_the_schema_names_every_key():
    from jsonschema import Draft202012Validator

    made = schema("persona")

    Draft202012Validator.check_schema(made)
    valid = Draft202012Validator(made)
    assert valid.is_valid({"id": "a", "voice": {"tone": "friendly", "lexicon": {"avoided": ["x"]}}})
    assert not valid.is_valid({"exampels": []})
    assert not valid.is_valid({"traits": {"formality": "cosy"}})


# -- lint ------------------------------------------------------------------------------

BAD = """\
name: Bad
traits:
  formality: formal
  tone: [friendly, zesty]
lexicon:
  preferred: [cool down, signal, Signal, lol]
  avoided: [cool, lol]
examples:
  - "lol, that's so cool!!"
  - "Hey, I'd love to help :)"
  - Sure.
  - sure.
style_rules: {contractions: {allowed: true}, preferred: [please]}
"""


def found(tmp_path, text):
    linted = lint_personas([put(tmp_path, text)])
    return {(f.line, f.rule) for f in linted.findings}, linted


def test_contradictions_are_found_where_they_stand(tmp_path):
    rules, linted = found(tmp_path, BAD)

    assert rules == {
        (3, "trait-contradicted"),
        (4, "unheard-trait"),
        (6, "avoided-inside"),
        (6, "both-ways"),
        (6, "twice"),
        (9, "exemplar-avoided"),
        (11, "short-exemplar"),
        (12, "short-exemplar"),
        (12, "twice"),
        (13, "unread-rule"),
    }
    assert linted.exit_code(strict=False) == 1


def test_a_persona_without_a_voice_is_an_error(tmp_path):
    rules, _ = found(tmp_path, "name: A\n")

    assert (1, "nothing-to-score") in rules


def test_words_nobody_uses_and_too_many_are_said(tmp_path):
    words = ", ".join(f"word{n}" for n in range(20))
    text = f"lexicon:\n  preferred: [{words}]\nexemplars:\n"
    text += "".join(f"  - This is sentence number {n} of the voice.\n" for n in range(3))

    rules, linted = found(tmp_path, text)

    assert rules == {(2, "many-words"), (2, "words-unused")}
    assert (linted.exit_code(strict=False), linted.exit_code(strict=True)) == (0, 1)


def test_what_keeps_a_file_from_loading_is_a_finding(tmp_path):
    rules, linted = found(tmp_path, "name: A\nexampels: [x]\n")

    assert rules == {(2, "bad-persona")}
    assert "did you mean 'examples'" in lint_text(linted, persona_rules())


def test_every_rule_is_explained_once_and_used(tmp_path):
    text = lint_text(found(tmp_path, BAD)[1], persona_rules())

    for rule in persona_rules().values():
        if f" {rule.id}:" in text:
            assert text.count(rule.why) == 1
            assert f": {rule.severity} {rule.id}:" in text


def test_the_command(tmp_path):
    good = OURS.replace(
        "[Happy to help with that.]",
        "[Happy to help with that., We'll check and get back to you., Thanks for your patience!]",
    )
    file, bad = put(tmp_path, good), put(tmp_path, BAD, "bad.yaml")
    run = CliRunner().invoke

    assert "no problems in 1 file" in run(app, ["persona", "lint", str(file)]).output
    assert run(app, ["persona", "lint", str(file), "--strict"]).exit_code == 0
    assert run(app, ["persona", "lint", str(file), str(bad)]).exit_code == 1
    missing = run(app, ["persona", "lint", str(tmp_path / "acne.yaml")])
    assert "did you mean" in str(missing.exception)


def test_a_persona_s_vectors_are_made_once():
    class Counting:
        identity = "counting"
        calls = 0

        def embed(self, texts):
            self.calls += 1
            return [[1.0, 0.0] for _ in texts]

    embedder = Counting()
    persona = persona_of("m", {"exemplars": ["a", "b"]})

    assert (
        len(asyncio.run(persona.vectors(embedder)))
        == len(asyncio.run(persona.vectors(embedder)))
        == 2
    )
    assert embedder.calls == 1
    assert isinstance(persona, Persona)
