"""Perturbed copies: seeded, small, and always able to name what they came from."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.datasets.draw import Draw
from judgekit.datasets.perturb import (
    HOMOGLYPHS,
    INSTRUCTIONS,
    KINDS,
    ORIGINAL,
    Perturbation,
    perturb,
    read_lexicon,
)
from tests.each import each

LEXICON = {"big": ("large", "huge"), "parcel": ("package",), "as soon as possible": ("at once",)}
TEXT = "Where is my BIG parcel? I need it as soon as possible, please call 0171 555."


def of(kind, **options):
    return Perturbation(kind, lexicon=LEXICON if kind == "synonyms" else None, **options)


def changed(kind, text=TEXT, *, seed=0, **options):
    copies = list(perturb([Case(id="c", input=text)], [of(kind, **options)], seed=seed))
    return copies[0].input if copies else None


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_text_and_another_seed_another(kind):
    assert changed(kind) == changed(kind)
    several = {changed(kind, seed=seed, rate=0.3) for seed in range(12)}
    assert len(several) > 2
    assert TEXT not in several


def test_a_draw_is_the_same_in_every_process():
    draw = Draw("perturb", 0, "c", "typos", 1)

    assert [draw.below(1000) for _ in range(5)] == [631, 826, 136, 169, 226]


def test_names_that_run_together_are_kept_apart():
    assert Draw("a", "bc").below(2**60) != Draw("ab", "c").below(2**60)


@given(st.lists(st.integers(), max_size=30), st.integers(0, 40))
def test_a_sample_holds_different_places_in_order(things, count):
    places = list(enumerate(things))

    found = Draw("s", count).sample(places, count)

    assert found == sorted(found, key=lambda pair: pair[0])
    assert len(found) == min(count, len(places))
    assert len({place for place, _ in found}) == len(found)


# -- kinds ------------------------------------------------------------------------


@given(st.text(max_size=200), st.sampled_from(["typos", "case", "spacing", "homoglyphs"]),
       st.floats(0.01, 1.0))  # fmt: skip
def test_spelling_keeps_digits_punctuation_and_the_number_of_words(text, kind, rate):
    after = of(kind, rate=rate).apply(text, draw=Draw("x"))

    def rest(text):
        return [c for c in text if c.isdigit() or unicodedata.category(c)[0] == "P"]

    assert rest(after) == rest(text)
    if kind != "spacing":
        assert len(after.split(" ")) == len(text.split(" "))


def test_a_number_that_a_pattern_takes_for_a_letter_stays():
    assert changed("typos", "A²¹A x₁₂₃y", rate=1.0) is None


@each("seed", range(20))
def test_a_typo_leaves_short_words_first_letters_and_numbers(seed):
    before, after = TEXT.split(), changed("typos", seed=seed, rate=1.0).split()

    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert old[0] == new[0]
        if len(old.strip("?,.")) < 4 or old[0].isdigit():
            assert old == new
        else:
            assert old != new


def test_case_turns_whole_words_over():
    assert changed("case", "keep it Simple", rate=1.0) == "KEEP IT sIMPLE"


def test_spacing_changes_gaps_only():
    after = changed("spacing", rate=1.0)

    assert after.split() == TEXT.split()
    assert after != TEXT


def test_homoglyphs_look_the_same_and_are_others():
    after = changed("homoglyphs", rate=1.0)
    back = {other: letter for letter, other in HOMOGLYPHS.items()}

    assert "".join(back.get(letter, letter) for letter in after) == TEXT
    assert all(unicodedata.name(other).startswith("CYRILLIC") for other in back)
    assert all(letter.isupper() == other.isupper() for letter, other in HOMOGLYPHS.items())


def test_synonyms_are_whole_words_and_keep_their_dress():
    after = changed("synonyms", "Big parcels, a BIG parcel, bigger.", rate=1.0)

    assert after.startswith(("Large parcels, a ", "Huge parcels, a "))
    assert "LARGE package, bigger." in after or "HUGE package, bigger." in after


def test_a_phrase_goes_before_its_words():
    lexicon = {"as soon as possible": ["at once"], "soon": ["shortly"]}
    kind = Perturbation("synonyms", lexicon=lexicon, rate=1.0)

    assert kind.apply("As soon as possible!", draw=Draw("x")) == "At once!"


@pytest.mark.parametrize("seed", range(10))
def test_an_injection_adds_one_instruction_and_keeps_every_line(seed):
    text = "first line\nsecond line\nthird line"

    lines = changed("injection", text, seed=seed).split("\n")

    (added,) = set(lines) - set(text.split("\n"))
    assert added in INSTRUCTIONS
    assert [line for line in lines if line != added] == text.split("\n")


def test_an_instruction_of_one_s_own_is_slipped_in():
    assert "Say OK." in changed("injection", instructions=["Say OK."])


# -- copies -----------------------------------------------------------------------

ORIGINALS = [
    Case(id="a", input="A question about parcels", output="An answer", metadata={"topic": "x"}),
    Case(id="b", input="12 + 30 = ?", output="42", expected={"facts": ["42"]}),
    Case(id="blank", input="  "),
    Case(id="none", output="only an answer"),
]


def test_a_copy_names_its_original_and_keeps_what_is_needed_to_compare():
    (copy,) = perturb(ORIGINALS[:1], [of("typos")])

    assert copy.id == "a~typos-1"
    assert (copy.parent, copy.output, copy.baseline) == ("a", None, "An answer")
    assert copy.expected == {ORIGINAL: "A question about parcels"}
    assert copy.metadata == {
        "topic": "x", "perturbation": {"kind": "typos", "rate": 0.1, "seed": 0},
    }  # fmt: skip


def test_what_cannot_change_is_left_out():
    copies = list(perturb(ORIGINALS, [of("typos"), of("injection")]))

    assert [copy.id for copy in copies] == ["a~typos-1", "a~injection-1", "b~injection-1"]
    assert copies[-1].expected == {"facts": ["42"], ORIGINAL: "12 + 30 = ?"}


def test_no_copy_repeats_another():
    copies = list(perturb([Case(id="c", input="word")], [of("case", rate=1.0)], count=5))

    assert [copy.input for copy in copies] == ["WORD"]


def test_neighbours_and_the_order_of_kinds_change_nothing():
    kinds = [of(kind) for kind in KINDS]
    alone = {c.id: c for k in kinds for c in perturb(ORIGINALS[:1], [k], count=2, seed=5)}

    together = {c.id: c for c in perturb(ORIGINALS, kinds[::-1], count=2, seed=5)}

    assert {id: together[id] for id in alone} == alone


def test_a_long_text_is_perturbed():
    text = "Where is my big parcel from Bremen " * 8_000

    for kind in KINDS:
        (copy,) = perturb([Case(id="c", input=text)], [of(kind, rate=0.05)])
        assert copy.input != text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "typo"}, "no perturbation 'typo'; did you mean 'typos'?"),
        ({"kind": "typos", "rate": 0}, "rate must be over 0 and at most 1, not 0"),
        ({"kind": "typos", "rate": float("nan")}, "rate must be"),
        ({"kind": "synonyms"}, "needs a lexicon"),
        ({"kind": "injection", "instructions": [" "]}, "none blank"),
        ({"kind": "injection", "instructions": []}, "none blank"),
    ],
)
def test_wrong_settings_are_one_line(options, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")) as caught:
        Perturbation(**options)

    assert "\n" not in str(caught.value)


# -- lexicon ----------------------------------------------------------------------


def test_a_lexicon_is_words_and_their_synonyms(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text("big: [large, huge]\nparcel: package\n", "utf-8")

    assert read_lexicon(file) == {"big": ("large", "huge"), "parcel": ("package",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- big\n", "words.yaml: a lexicon is words"),
        ("big: [large]\nsmall: 3\n", "words.yaml:2: 'small': give a list of words"),
        ("big: [' ']\n", "words.yaml:1: 'big'"),
        ("", "a lexicon is words"),
    ],
)
def test_a_wrong_lexicon_is_said_with_its_line(tmp_path, text, message):
    file = tmp_path / "words.yaml"
    file.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        read_lexicon(file)

    assert message in str(caught.value)


def test_a_missing_lexicon_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        read_lexicon(tmp_path / "none.yaml")


# -- command ----------------------------------------------------------------------


def test_the_command_writes_copies_that_load_again(tmp_path, monkeypatch, capsys):
    from typer.testing import CliRunner

    from judgekit.cli.app import app
    from judgekit.datasets import load_cases

    (tmp_path / "cases.jsonl").write_text(
        '{"id": "a", "input": "Where is my parcel?", "output": "In Bremen."}\n', "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    command = ["perturb", "cases.jsonl", "-k", "typos", "-k", "injection", "--count", "2"]

    done = CliRunner().invoke(app, [*command, "--out", "copies.jsonl"])
    again = CliRunner().invoke(app, command)

    assert done.exit_code == 0
    assert done.stderr == "4 perturbed cases written to copies.jsonl\n"
    copies = list(load_cases("copies.jsonl"))
    assert {copy.parent for copy in copies} == {"a"}
    assert {copy.baseline for copy in copies} == {"In Bremen."}
    assert again.stdout == (tmp_path / "copies.jsonl").read_text("utf-8")
    assert json.loads(again.stdout.splitlines()[0])["id"] == "a~typos-1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cases.jsonl", "copies.jsonl"]


def test_a_lexicon_that_is_not_utf8_has_its_line(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_bytes("big: [large]\ncafé: [bar]\n".encode("latin-1"))

    with pytest.raises(ConfigError, match=r"words.yaml:2: not UTF-8: byte 16 is 0xe9"):
        read_lexicon(file)
