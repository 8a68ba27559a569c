"""The page of an agreement, also in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.agreement.agree import agree
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.pages.analysis import render_agreement, shade
from judgekit.report.calibration import Calibration
from judgekit.report.report import Report
from tests import browsing
from tests.analysis.agreement.simulated import study
from tests.layout import check_layout

EVIL = "<script>alert(1)</script>{{ 7 * 7 }}"


def evil(n: int, label: dict[str, Any]) -> dict[str, Any]:
    answers = {name: {"value": v, "reason": EVIL} for name, v in label["values"].items()}
    who = {"ann": EVIL, "bob": "b" * 120}.get(label["labeller"], label["labeller"])
    return {"case": f"c{n}", "metric": "tone", "labeller": who, "answers": answers}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    run, labels = study(tmp_path_factory.mktemp("evil"), failed=3, change=evil)
    return agree(run, labels, alt_test=0.15, group="prompt", system="bot", write=False)


def test_texts_are_inert_and_the_same_labels_give_the_same_bytes(found: Calibration) -> None:
    page = render_agreement(found)

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in page
    assert page == render_agreement(Calibration.model_validate_json(found.model_dump_json()))


def test_everything_is_on_the_page(found: Calibration) -> None:
    page = render_agreement(found)

    assert page.count("Confusion matrix of") == 2  # shares have too many values
    assert page.count('<article class="differs">') == 30
    for text in ("no verdict", "balanced F1", "with other labellers", "left out", "It is good.",
                 "within groups of", "random sample", "alternative test"):  # fmt: skip
        assert text in page, text


def test_disagreements_show_question_and_answer_and_lead_to_the_case(tmp_path: Path) -> None:
    folder, labels = study(tmp_path / "a run", failed=3, change=evil)
    run = Report.read(folder)
    case = Case(id="x", input=f"Q {EVIL}", output="A" * 900)
    results = [scored._replace(case=case.model_copy(update={"id": scored.case.id}))
               for scored in run.results]  # fmt: skip
    told = Report(run.figures, results=results, folder=folder)
    agreement = agree(folder, labels, write=False)

    page = render_agreement(agreement, run=told)
    assert "<script>alert" not in page
    assert page.count('<p class="output"') == page.count('<article class="differs">') > 0
    assert "AAA..." in page
    page = agreement.to_html(tmp_path / "agree.html", run=folder).read_text()
    assert "#case=" not in page  # the run has no page yet
    (folder / "report.html").write_text("")
    page = agreement.to_html(tmp_path / "agree.html", run=folder).read_text()
    assert re.search(r'<a href="[^":]*report.html#case=c\d+">', page)
    other = Report(run.figures.model_copy(update={"dataset": "0"}), results=results)
    assert '<p class="output"' not in render_agreement(agreement, run=other)


def test_cells_are_shaded_by_their_share_of_the_largest(found: Calibration) -> None:
    one = found.criteria[0].model_copy(update={"table": ((9, 0), (1, 4))})

    cells = [shade(one, row, column) for row in (0, 1) for column in (0, 1)]
    assert cells == ["same4", "other0", "other1", "same2"]


def test_a_page_of_an_older_file(found: Calibration) -> None:
    data = json.loads(found.model_dump_json())
    for one in data["criteria"]:
        for name in ("statistics", "people_statistics", "by_labeller", "disagreements", "groups",
                     "systems", "alt_test"):  # fmt: skip
            one.pop(name, None)

    assert "Confusion matrix" in render_agreement(Calibration.model_validate(data))


def test_only_a_page_is_replaced(found: Calibration, tmp_path: Path) -> None:
    (tmp_path / "notes.html").write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        found.to_html(tmp_path / "notes.html")


@pytest.mark.loopback
@pytest.mark.skipif(
    browsing.CHROMIUM is None or not browsing.PLAYWRIGHT, reason="the agreement page: no browser"
)
def test_the_page_fits_and_reads_well(tab: Any, found: Calibration, tmp_path: Path) -> None:
    tab.goto(found.to_html(tmp_path / "agreement.html").as_uri())

    check_layout(tab, order=(".verdict", ".facts", ".matrix", ".differs"))
