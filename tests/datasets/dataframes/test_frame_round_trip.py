"""Cases through data frames and back: the same cases."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import judgekit
from judgekit.core.case import Case
from tests.later import Later
from tests.written import MESSAGES, OBJECT, TEXT

datasets, polars = Later("datasets"), Later("polars")

MAYBE = st.none() | TEXT
TEXTS = st.lists(TEXT, max_size=3)
CASES = st.lists(
    st.builds(
        Case,
        id=TEXT.filter(bool),
        input=MAYBE,
        output=MAYBE,
        system=MAYBE,
        history=st.lists(MESSAGES, max_size=2),
        reference=TEXTS,
        context=TEXTS,
        baseline=MAYBE,
        choices=TEXTS,
        expected=OBJECT,
        parent=MAYBE,
        labels=OBJECT,
        metadata=OBJECT,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda case: case.id,
)
DOORS = {
    "pandas": (judgekit.datasets.to_pandas, judgekit.datasets.from_pandas),
    "polars": (judgekit.datasets.to_polars, judgekit.datasets.from_polars),
    "hf": (judgekit.datasets.to_hf, judgekit.datasets.from_hf),
}


# Drawing cases takes longer than most of what is done with them: each draw goes through all doors.
@settings(max_examples=60)
@given(cases=CASES)
def test_cases_come_back_as_they_were(cases):
    for library, (out, back) in DOORS.items():
        assert list(back(out(cases))) == cases, library


@settings(max_examples=20)
@given(cases=CASES)
def test_cases_come_back_from_lazy_tables_streams_and_parquet(tmp_path_factory, cases):
    path = tmp_path_factory.mktemp("cases") / "cases.parquet"
    frame = judgekit.datasets.to_polars(cases)
    frame.write_parquet(path)
    written = datasets.Dataset(polars.read_parquet(path).to_arrow())

    assert list(judgekit.datasets.from_polars(frame.lazy())) == cases
    assert (
        list(judgekit.datasets.from_hf(judgekit.datasets.to_hf(cases).to_iterable_dataset()))
        == cases
    )
    assert list(judgekit.load_cases(path)) == cases
    assert list(judgekit.datasets.from_polars(polars.scan_parquet(path))) == cases
    assert list(judgekit.datasets.from_hf(written)) == cases
