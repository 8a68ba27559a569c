"""Statistics of criteria: figures by hand, constructed rubrics, agreement with people."""

from __future__ import annotations

import json
import random

import pytest

import judgekit
from judgekit.analysis.rubric_stats.measure import rubric_stats
from judgekit.core.errors import ConfigError
from tests.analysis.labels.made import answer, made_run
from tests.cli.conftest import judgekit as judgekit_command
from tests.later import Later

__all__ = ["judgekit_command"]
stats = Later("scipy.stats")
N = 160


def row(draw):
    """Two criteria of one quality, a copy of one, a constant and a coin."""
    quality = draw.random()
    level = round(2 * min(1.0, max(0.0, quality + draw.gauss(0, 0.2)))) / 2
    polite = float(quality + draw.gauss(0, 0.2) > 0.5)
    return {"polite": polite, "level": level, "copy": level, "constant": 1.0,
            "noise": float(draw.random() < 0.5)}  # fmt: skip


DRAW = random.Random(5)
ROWS = [row(DRAW) for _ in range(N)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("stats") / "run", [{"values": one} for one in ROWS])


@pytest.fixture
def labels(tmp_path):
    """Write labels: the judge's answers, with other ones where `changed` says so."""

    def write(changed, count=100, **more):
        path = tmp_path / "labels.jsonl"
        lines = [
            {"case": f"c{n}", "metric": "tone", "labeller": "ann", "values": {
                name: answer(name, changed(n, name, value)) for name, value in values.items()
            }, **{key: value(n) for key, value in more.items()}}
            for n, values in enumerate(ROWS[:count])
        ]  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def by_id(found):
    return {one.criterion: one for one in found.criteria}


def column(name):
    return [one[name] for one in ROWS]


def without(*names):
    kept = [name for name in ROWS[0] if name not in names]
    return [sum(one[name] for name in kept) / len(kept) for one in ROWS]


def test_a_copy_a_constant_and_a_coin_are_named(run):
    found = {id: one.findings for id, one in by_id(rubric_stats(run)).items()}

    assert found == {
        "polite": {},
        "level": {"duplicate": "duplicates copy"},
        "copy": {"duplicate": "duplicates level"},
        "constant": {"constant": "is constant: 1 in all 160 cases"},
        "noise": {"noise": "is noise: no relation to the other criteria"},
    }


def test_figures_are_those_of_scipy(run):
    found = by_id(rubric_stats(run))

    for name in ("polite", "level", "noise"):
        one, rest = found[name], without(name)
        expected = stats.pearsonr(column(name), rest)
        assert one.discrimination.value == pytest.approx(expected.statistic)
        interval = expected.confidence_interval()
        assert one.discrimination.low == pytest.approx(interval.low, abs=0.05)
        assert one.discrimination.high == pytest.approx(interval.high, abs=0.05)
        ranks = stats.spearmanr(without(), rest).statistic
        assert one.rank_correlation.value == pytest.approx(ranks)
        change = sum(rest) / N - sum(without()) / N
        assert one.mean_change.value == pytest.approx(change)
        assert one.mean_change.low < change < one.mean_change.high
        assert one.mean.value == pytest.approx(sum(column(name)) / N)
        assert one.full.value == pytest.approx(column(name).count(1.0) / N)
    assert found["polite"].closest == "level"
    expected = stats.pearsonr(column("polite"), column("level")).statistic
    assert found["polite"].redundancy.value == pytest.approx(expected)


def test_every_figure_has_n_and_an_interval_or_too_few(run, tmp_path):
    few = made_run(tmp_path / "few", [{"values": one} for one in ROWS[:12]])
    for folder in (run, few):
        for one in rubric_stats(folder).criteria:
            for name, text in one.figures():
                assert ", n " in text or text == "none", name
                assert text == "none" or "[" in text or "undefined" in text, name
    assert by_id(rubric_stats(few))["polite"].findings == {
        "few": "has 12 of the 20 cases that a conclusion needs"
    }


def test_people_tell_noise_from_another_quality(run, labels):
    agree = by_id(rubric_stats(run, labels(lambda n, name, value: value)))
    coin = by_id(rubric_stats(run, labels(lambda n, name, value: float(n * 7 % 3 == 0)
                                          if name == "noise" else value)))  # fmt: skip

    assert agree["noise"].findings == {
        "apart": "has no relation to the other criteria, and people agree with it"
    }
    assert coin["noise"].findings["noise"].endswith("the other criteria nor to people")
    assert agree["polite"].coefficient == "kappa"
    assert agree["polite"].people.value == 1.0
    assert agree["polite"].people.n == 100


def test_removing_noise_raises_the_agreement_of_the_score(run, labels):
    path = labels(lambda n, name, value: float(n * 7 % 3 == 0) if name == "noise" else value)
    found = by_id(rubric_stats(run, path))
    people = [(sum(one.values()) - one["noise"] + (n * 7 % 3 == 0)) / 5
              for n, one in enumerate(ROWS[:100])]  # fmt: skip

    for name in ("noise", "polite"):
        one = found[name]
        expected = [stats.pearsonr(scores[:100], people).statistic
                    for scores in (without(), without(name))]  # fmt: skip
        assert [one.agreement.value, one.agreement_without.value] == pytest.approx(expected)
    assert found["noise"].agreement_without.value > found["noise"].agreement.value
    assert found["polite"].agreement_without.value < found["polite"].agreement.value


def test_a_single_criterion_agrees_with_people_as_the_score_does(tmp_path):
    rows = [{"values": {"polite": one["polite"]}} for one in ROWS]
    run, path = made_run(tmp_path / "run", rows), tmp_path / "labels.jsonl"
    path.write_text("".join(
        json.dumps({"case": f"c{n}", "metric": "tone", "values": {"polite": n % 7 == 0 or
                    bool(one["polite"])}}) + "\n" for n, one in enumerate(ROWS[:100])))  # fmt: skip
    found = rubric_stats(run, path)
    (one,) = found.criteria

    people = [float(n % 7 == 0 or one["polite"]) for n, one in enumerate(ROWS[:100])]
    expected = stats.pearsonr(column("polite")[:100], people).statistic
    assert one.agreement.value == pytest.approx(expected)
    assert one.agreement_without.n == 0
    assert not any("did not answer all" in note for note in found.notes)


def test_labels_weigh_by_the_inverse_of_their_probability(run, labels):
    def changed(n, name, value):
        return 1 - value if name == "polite" and n % 4 == 0 else value

    equal = by_id(rubric_stats(run, labels(changed)))["polite"]
    rare = rubric_stats(run, labels(changed, probability=lambda n: 0.9 if n % 4 else 0.1))

    assert by_id(rare)["polite"].agreement.value < equal.agreement.value
    assert not rare.random
    assert rubric_stats(run, labels(changed)).random


def test_people_who_answer_some_criteria_have_no_score(run, tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(
        json.dumps({"case": f"c{n}", "metric": "tone", "values": {"polite": n % 3 == 0}}) + "\n"
        for n in range(40)
    ))  # fmt: skip
    found = rubric_stats(run, path)

    assert by_id(found)["polite"].people.n == 40
    assert (by_id(found)["level"].people.n, by_id(found)["level"].coefficient) == (0, None)
    assert by_id(found)["polite"].agreement.n == 0
    assert "No score of people where they did not answer all criteria" in found.text()


def test_clusters_widen_the_intervals(tmp_path):
    rows = [{"values": one, "user": n // 8} for n, one in enumerate(
        one for one in ROWS[:20] for _ in range(8)
    )]  # fmt: skip
    plain = by_id(rubric_stats(made_run(tmp_path / "plain", rows)))["polite"]
    users = rubric_stats(made_run(tmp_path / "users", rows, cluster="user"))
    clustered = by_id(users)["polite"]

    assert "by clusters of user" in users.text()
    for name in ("mean", "discrimination", "rank_correlation"):
        one, other = plain.__dict__[name], clustered.__dict__[name]
        assert one.value == pytest.approx(other.value)
        assert other.high - other.low > 1.5 * (one.high - one.low)


def test_weights_penalties_and_a_criterion_against_the_rest(tmp_path):
    rows = [{"values": {"polite": float(n % 2), "level": 1.0 - n % 2, "share": float(n % 4 > 1)},
             "weights": {"polite": 0.75, "level": -0.5, "share": 0.25}}
            for n in range(40)]  # fmt: skip
    found = by_id(rubric_stats(made_run(tmp_path / "run", rows)))

    rest = [max(0.0, row["values"]["share"] - 2 * row["values"]["level"]) for row in rows]
    whole = [min(1, max(0, 0.75 * (n % 2) + 0.25 * (n % 4 > 1) - 0.5 * (1 - n % 2)))
             for n in range(40)]  # fmt: skip
    change = (sum(rest) - sum(whole)) / 40
    assert found["polite"].mean_change.value == pytest.approx(change)
    assert "against" not in found["level"].findings  # a penalty is meant to be

    rows = [{"values": {**row["values"], "level": 1.0 - n % 2, "share": float(n % 2)}}
            for n, row in enumerate(rows)]  # fmt: skip
    against = by_id(rubric_stats(made_run(tmp_path / "other", rows)))["level"]
    assert against.findings["against"] == "works against the other criteria"


def test_the_same_bytes_twice_and_the_command_prints_the_same(run, labels, judgekit_command):
    path = labels(lambda n, name, value: value)
    text = rubric_stats(run, path).text()
    done = judgekit_command("rubric", "stats", run, path)

    assert (done.code, done.out) == (0, rubric_stats(run, path).text(width=80))
    assert "\ntone, constant\n! is constant: 1 in all 160 cases\n\nfigure " in text
    assert "Assumes that the labelled cases are a random sample." in text
    found = json.loads(judgekit_command("rubric", "stats", run, "--json").out)
    assert found["criteria"][3]["findings"] == {"constant": "is constant: 1 in all 160 cases"}
    assert found["criteria"][0]["discrimination"]["n"] == 160
    table = judgekit_command("rubric", "stats", run, "--markdown").out
    assert table == rubric_stats(run).markdown()
    assert (
        "### tone, constant\n\n> **\\! is constant\\: 1 in all 160 cases**\n\n| figure |" in table
    )
    assert judgekit.rubric_stats(run, path).text() == text


def test_a_run_without_criteria_is_named(tmp_path):
    made_run(tmp_path / "run", [{"fails": True}] * 3)

    with pytest.raises(ConfigError, match="no criteria that a judge scored"):
        rubric_stats(tmp_path / "run")


def test_a_misspelt_label_is_one_line(run, labels):
    path = labels(lambda n, name, value: value)
    lines = path.read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    first["values"]["level"] = "midling"
    path.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n", "utf-8")

    with pytest.raises(ConfigError) as caught:
        rubric_stats(run, path)

    assert str(caught.value).startswith(f"{path}: case 'c0', tone: ")
