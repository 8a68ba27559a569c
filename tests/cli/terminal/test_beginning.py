"""`judgekit init` and `judgekit rubric new` with a person at the terminal."""

from __future__ import annotations

import pytest

from judgekit.core.yaml_file import parse_yaml
from judgekit.rubric.load import load_rubric

from .driver import JUDGEKIT, Terminal

NEW = (*JUDGEKIT, "rubric", "new")


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_project_is_asked_for_and_written(tmp_path):
    folder = tmp_path / "My shop"
    folder.mkdir()
    with Terminal((*JUDGEKIT, "init"), cwd=folder) as terminal:
        terminal.answer("Name of the project [My shop]:", "")
        terminal.answer("Judge [hosted]:", "9")
        terminal.expect("'9' is not a choice; the choices are hosted, server, person,")
        terminal.answer("Judge [hosted]:", "2")
        terminal.answer("Address of the server [http://localhost:8000/v1]:", "localhost:9")
        terminal.expect("An address begins with http:// or https://")
        terminal.answer("Address of the server", "http://127.0.0.1:9/v1")
        terminal.answer("Model, as openai/NAME", "qwen")
        terminal.expect("A model is PROVIDER/NAME")
        terminal.answer("Model, as openai/NAME", "openai/qwen")
        terminal.answer("Criteria [rubric]:", "")
        assert terminal.finish() == 0

    assert "My shop: 11 files in ." in terminal.text
    assert "judgekit run suite.yaml --judge openai/qwen --api-base http://127.0.0.1:9/v1" in (
        terminal.text
    )
    suite = (folder / "suite.yaml").read_text("utf-8")
    assert '# judge: {model: "openai/qwen", api_base: "http://127.0.0.1:9/v1"}' in suite


def test_the_columns_of_cases_are_asked_for(tmp_path):
    (tmp_path / "tickets.csv").write_text("Nr;Frage;Text;Text 2\n17;Wann?;Um neun;x\n", "utf-8")
    command = (*JUDGEKIT, "init", "--cases", "tickets.csv")
    with Terminal(command, cwd=tmp_path, columns=60) as terminal:
        terminal.expect("Text metadata Um neun")
        terminal.answer("Column of the answer to score [-]:", "Tex")
        terminal.expect("'Tex' is not a choice; the choices are Nr, Frage, Text, Text 2, -.")
        terminal.answer("Column of the answer to score [-]:", "text")
        terminal.answer("Column of the question [Frage]:", "")
        terminal.answer("Column of an accepted answer [-]:", "<")
        terminal.answer("Column of the question [Frage]:", "Frage")
        terminal.answer("Column of an accepted answer [-]:", "")
        terminal.answer("Column with an id of the row [Nr]:", "")
        terminal.answer("Column with the text that the answer relies on [-]:", "")
        terminal.answer("Judge [hosted]:", "none")
        assert terminal.finish() == 0

    assert "suite.yaml: 1 case of tickets.csv" in terminal.text
    assert max(map(len, terminal.text.splitlines())) <= 60
    entry = parse_yaml((tmp_path / "suite.yaml").read_text("utf-8"), file="")[0]["cases"]
    assert entry["fields"] == {"id": "Nr", "input": "Frage", "output": "Text"}


def test_nothing_is_asked_when_a_flag_says_it(tmp_path):
    for flags in (["--yes"], ["--judge", "none"]):
        folder = tmp_path / flags[-1].strip("-")
        with Terminal((*JUDGEKIT, "init", str(folder), *flags), cwd=tmp_path) as terminal:
            assert terminal.finish() == 0
        assert "Enter accepts" not in terminal.text
        assert (folder / "suite.yaml").exists()


def test_a_rubric_is_asked_for_corrected_and_written(tmp_path):
    with Terminal(NEW, cwd=tmp_path) as terminal:
        terminal.expect("Enter accepts the answer in brackets, < goes back, Ctrl-C leaves.")
        terminal.answer("Name of the rubric:", "<")
        terminal.expect("This is the first question.")
        terminal.answer("Name of the rubric:", "")
        terminal.expect("This needs an answer.")
        terminal.answer("Name of the rubric:", "quality")
        terminal.expect("'quality' is the name of a built-in rubric; choose another.")
        terminal.answer("Name of the rubric:", "tome")
        terminal.answer("What it judges, in one sentence:", "<")
        terminal.answer("Name of the rubric:", "tone")
        terminal.answer("What it judges", 'Is it: "kind" {{ today }}? # é')
        terminal.answer("Fields that a case needs", "inptu")
        terminal.expect("A case has no field 'inptu'; give some of input, system")
        terminal.answer("Fields that a case needs", "input, system")
        terminal.answer("Criterion 1", "Is the answer friendly?")
        terminal.answer("name in reports [friendly]:", "")
        terminal.answer("kind of answer [levels]:", "lev")
        terminal.answer("levels, best first [fully, partly, not at all]:", "yes")
        terminal.expect("Give at least two words, separated by commas")
        terminal.answer("levels, best first", "yes, no")
        terminal.answer("Criterion 2", "Does it keep to the point?")
        terminal.answer("name in reports", "friendly")
        terminal.expect("'friendly' is used already; choose another.")
        terminal.answer("name in reports", "point")
        terminal.answer("kind of answer", "choice")
        terminal.answer("words and their values", "good=2")
        terminal.expect("Write each as WORD=NUMBER from 0 to 1")
        terminal.answer("words and their values", "good=1, bad=0, unclear=-")
        terminal.answer("Criterion 3", "What was promised?")
        terminal.answer("name in reports", "")
        terminal.answer("kind of answer", "5")
        terminal.answer("items, separated by ;", "a price; a date")
        terminal.answer("Criterion 4", "")
        terminal.answer("Weights of friendly, point, promised", "1 2")
        terminal.expect("Give 3 numbers from 0.001 to 1000, such as 3 2 1.")
        terminal.answer("Weights of", "3, 2, 1")
        terminal.answer("Quotes of evidence required (yes/no) [no]:", "y")
        assert terminal.finish() == 0

    rubric = load_rubric(tmp_path / "rubrics" / "tone.jinja")
    assert rubric.description == 'Is it: "kind" {{ today }}? # é'
    assert rubric.requires == ("input", "system", "output")
    shown = [(c.id, c.question.kind, c.weight, c.question.quotes) for c in rubric.criteria]
    assert [(name, kind, quotes) for name, kind, _, quotes in shown] == [
        ("friendly", "score", True), ("point", "choice", True), ("promised", "checklist", True),
    ]  # fmt: skip
    assert [weight for _, _, weight, _ in shown] == pytest.approx([3, 2, 1])
    assert rubric.criteria[0].question.labels == ("yes", "no")
    assert rubric.criteria[2].question.items == ("a price", "a date")
    assert files(tmp_path) == [".schemas/rubric.json", "rubrics/tone.jinja"]
    assert "judgekit rubric render tone" in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize(
    ("key", "code", "words"),
    [("\x03", 130, "left; nothing was written"), ("\x04", 2, "the input ended; nothing was")],
    ids=["Ctrl-C", "Ctrl-D"],
)
@pytest.mark.parametrize("command", [("init", "shop"), ("rubric", "new")], ids=" ".join)
def test_leaving_writes_nothing(tmp_path, command, key, code, words):
    with Terminal((*JUDGEKIT, *command), cwd=tmp_path) as terminal:
        terminal.answer("Name of the", "tone")
        terminal.expect("Judge [hosted]:" if command[0] == "init" else "sentence:")
        if key == "\x03":
            assert terminal.interrupt() == code
        else:
            terminal.send(key)
            assert terminal.finish() == code

    assert words in terminal.text
    assert "Traceback" not in terminal.text
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_terminal_without_colours_is_enough(tmp_path):
    with Terminal(NEW, cwd=tmp_path, columns=30, environment={"NO_COLOR": "1"}) as terminal:
        terminal.answer("Name of the rubric:", "tone")
        terminal.answer("one sentence:", "Kindness.")
        terminal.answer("- for none) [input]:", "-")
        terminal.answer("about the answer:", "Is it kind?")
        terminal.answer("reports [kind]:", "")
        terminal.answer("answer [levels]:", "boolean")
        terminal.answer("to finish):", "")
        terminal.answer("required (yes/no) [no]:", "")
        assert terminal.finish() == 0

    questions = terminal.text.partition("rubrics/tone.jinja")[0]
    assert max(map(len, questions.splitlines())) <= 45  # a line with its answer
    assert "\x1b[3" not in terminal.raw
    assert load_rubric(tmp_path / "rubrics" / "tone.jinja").requires == ("output",)
