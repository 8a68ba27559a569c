"""What templates pay: everything they can reach costs them in proportion to its work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.tests import TESTS as JINJA_TESTS

from judgekit.core.errors import RubricError
from judgekit.rubric.filters import FILTER_PRICES, METHODS, TEST_PRICES
from judgekit.rubric.load import load_rubric
from judgekit.rubric.sandbox import RubricEnvironment
from tests.growth import start_of_python
from tests.hostile.conftest import run_bounded
from tests.hostile.template_worker import CASE

WORKER = Path(__file__).with_name("price_worker.py")
TIMES = 400
"""A body may take as much processor time as this many starts of Python."""
MEGABYTES = 300


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    done = run_bounded([str(WORKER)], folder=tmp_path_factory.mktemp("prices"), seconds=300)
    assert done.code == 0, done.err[-2000:]
    return json.loads(done.out)


def test_every_one_line_body_ends_soon(outcome):
    limit = TIMES * start_of_python()

    assert outcome["count"] > 1500
    assert outcome["longest"] < limit
    # What it would take to spend a whole budget this way.
    dear = [body for seconds, share, body, _ in outcome["slow"] if seconds / share > limit]
    assert not dear


def test_no_one_line_body_takes_much_memory(outcome):
    before, after = outcome["kilobytes"]

    assert after - before < MEGABYTES * 1024


def test_everything_has_a_price():
    environment = RubricEnvironment(None)

    assert environment.filters.keys() - {"fence"} == FILTER_PRICES.keys()
    assert environment.tests.keys() == TEST_PRICES.keys()
    assert JINJA_TESTS.keys() - TEST_PRICES.keys() == {"callable", "escaped", "filter", "test"}
    assert FILTER_PRICES.keys() <= JINJA_FILTERS.keys() | {"json"}
    assert all(environment.is_safe_attribute("a", name, None) for name in METHODS)
    assert not [n for n in dir(str) if n not in METHODS and environment.is_safe_attribute("", n, 0)]


@pytest.mark.parametrize(
    "name", [n for n in vars(RubricEnvironment) if n.startswith("charge_")] + ["_paid", "paid"]
)
@pytest.mark.parametrize(
    "body",
    [
        "{{{{ [1] | map('{0}', -100000000, -1000000000) | list }}}}",
        "{{{{ [1] | select('{0}') | list }}}}",
        "{{{{ 1 | {0}(-100000000, -1000000000) }}}}",
        "{{% filter {0} %}}x{{% endfilter %}}",
        "{{% if 1 is {0} %}}{{% endif %}}",
        "{{{{ {0}(-100000000, -1000000000) }}}}",
        "{{{{ environment.{0}(1, 1) }}}}",
        "{{{{ self.{0}(1, 1) }}}}",
        "{{{{ case.{0}(1, 1) }}}}",
    ],
)
def test_a_template_cannot_name_the_budget(rubric_of, name, body):
    with pytest.raises(RubricError):
        load_rubric(rubric_of(body.format(name))).render(CASE, mode="default")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{{ 0x" + "f" * 1000 + " }}", "a number of that size"),
        ("{{ 9 ** 64 * 9 }}", "the product is too large"),
        ("{{ {" + ", ".join(f"{n}: 1" for n in range(2001)) + "} | length }}", "2,000 entries"),
        ("{% filter list %}ab{% endfilter %}", "prints a list"),
        ("{{ [[1], [1]] | unique | list }}", "unique takes texts and numbers"),
        ("{{ [1, 2] | upper }}", "prints a list"),
        ("{{ 1 | fence(case.input) }}", "up to 100 characters"),
    ],
)
def test_what_has_no_bound_is_refused(rubric_of, body, words):
    with pytest.raises(RubricError, match=words):
        load_rubric(rubric_of(body)).render(CASE, mode="default")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{{ [1, 1.0, true, 'a', 'A', 2] | unique | join('-') }}", "1-a-2"),
        ("{{ ['a', 'A'] | unique(case_sensitive=true) | join }}", "aA"),
        ("{{ [{'a': 1}, {'a': 1.0}] | unique(attribute='a') | list | length }}", "1"),
        ("{{ '42.23' | int }} {{ 'x' | int(7) }} {{ '0x10' | int(0, 16) }}", "42 7 16"),
        ("{{ 7 - 2 }} {{ 7 // 2 }} {{ 7 / 2 }}", "5 3 3.5"),
        ("{{ case.input | int(5) }} {{ case.input | float(0.5) }}", "5 0.5"),
        (
            "{% set x %}a{% endset %}{{ x ~ 1 }} {{ 'b' in 'abc' }} {{ 5 not in [5] }}",
            "a1 true false",
        ),
    ],
)
def test_what_is_priced_works_as_before(rubric_of, body, expected):
    _, messages = load_rubric(rubric_of(body)).render(CASE, mode="default")

    assert messages[-1].content == expected
