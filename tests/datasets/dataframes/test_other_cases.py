"""Cases from polars and from Hugging Face data sets."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pytest

import judgekit
from judgekit.core.errors import ConfigError, DatasetError
from tests.later import Later

datasets, polars = Later("datasets"), Later("polars")


def test_polars_columns_of_every_kind():
    frame = polars.DataFrame(
        {
            "id": [1, 2],
            "input": ["q", None],
            "output": [None, "a"],
            "reference": [["x"], None],
            "metadata.share": [float("nan"), 0.5],
            "metadata.day": [datetime.date(2025, 1, 31), None],
            "metadata.took": [datetime.timedelta(seconds=90), None],
            "metadata.kind": polars.Series(["a", "b"], dtype=polars.Categorical),
        }
    )

    first, second = judgekit.datasets.from_polars(frame)

    assert (first.id, first.input, first.output, first.reference) == ("1", "q", None, ("x",))
    assert first.metadata == {"day": "2025-01-31", "took": "0:01:30", "kind": "a"}
    assert (second.input, second.output, second.reference) == (None, "a", ())
    assert second.metadata == {"share": 0.5, "kind": "b"}


def test_polars_rows_are_named_by_number_and_fields_mapped():
    same = {"q": {"text": "a"}, "seed": 1, "name": "x"}
    frame = polars.DataFrame([same, same])

    first, second = judgekit.datasets.from_polars(frame, fields={"input": "q.text"})

    assert (first.input, second.id) == ("a", f"{first.id}-2")
    with pytest.raises(DatasetError, match=r"^row 1: field 'id': 'x' was used before at row 0;"):
        list(judgekit.datasets.from_polars(frame, fields={"input": "q.text", "id": "name"}))


def test_a_lazy_frame_is_read_in_batches(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text("".join(f'{{"id": "{n}", "input": "q{n}"}}\n' for n in range(5000)))

    ids = [case.id for case in judgekit.load_cases(polars.scan_ndjson(path))]

    assert ids == [str(n) for n in range(5000)]


def test_a_lazy_frame_that_cannot_be_read_is_refused_in_a_line(tmp_path):
    lazy = polars.scan_csv(tmp_path / "nowhere.csv", schema={"input": polars.String})

    with pytest.raises(DatasetError, match="the lazy frame cannot be read") as caught:
        list(judgekit.datasets.from_polars(lazy))

    assert len(str(caught.value).splitlines()) == 1


ROWS = [
    {"id": "a", "messages": [{"role": "user", "content": "Hi"},
                             {"role": "assistant", "content": "Hello", "name": "bot"}]},
    {"id": "b", "messages": [{"role": "user", "content": "Bye"}]},
]  # fmt: skip


def test_a_data_set_gives_the_cases_of_its_rows():
    data = datasets.Dataset.from_list(ROWS)

    assert list(judgekit.datasets.from_hf(data)) == list(judgekit.load_cases(ROWS))
    assert list(judgekit.load_cases(data)) == list(judgekit.load_cases(ROWS))


def test_another_format_of_a_data_set_does_not_show():
    data = datasets.Dataset.from_list([{"id": 1, "input": "q", "metadata.n": 1}])

    (case,) = judgekit.datasets.from_hf(data.with_format("numpy"))

    assert (case.id, case.metadata) == ("1", {"n": 1})


def test_a_stream_is_read_no_further_than_wanted(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    taken = []

    def rows():
        for number in range(1_000_000):
            taken.append(number)
            yield {"id": str(number), "input": "q"}

    stream = datasets.IterableDataset.from_generator(rows)

    assert [case.id for case in judgekit.datasets.from_hf(stream, limit=3)] == ["0", "1", "2"]
    assert len(taken) < 20


def test_a_split_is_chosen_among_several():
    both = datasets.DatasetDict(
        train=datasets.Dataset.from_list([{"input": "t"}]),
        test=datasets.Dataset.from_list([{"input": "e"}]),
    )

    assert [case.input for case in judgekit.datasets.from_hf(both, split="test")] == ["e"]
    with pytest.raises(DatasetError, match=r"several splits \('train', 'test'\)"):
        list(judgekit.datasets.from_hf(both))
    with pytest.raises(ConfigError, match="no split 'tset': split='train' or split='test'"):
        judgekit.datasets.from_hf(both, split="tset")


def test_a_saved_folder_is_read(tmp_path):
    datasets.Dataset.from_list([{"input": "q"}]).save_to_disk(tmp_path / "saved")

    assert [case.input for case in judgekit.datasets.from_hf(tmp_path / "saved")] == ["q"]
    (tmp_path / "other").mkdir()
    with pytest.raises(DatasetError, match="cannot be read as a data set") as caught:
        judgekit.datasets.from_hf(tmp_path / "other")
    assert len(str(caught.value).splitlines()) == 1


def test_a_name_of_the_hub_is_not_looked_up_unasked(monkeypatch):
    asked = []
    monkeypatch.setattr("datasets.load_dataset", lambda *a, **k: asked.append((a, k)))

    with pytest.raises(ConfigError, match="only with download=True"):
        judgekit.datasets.from_hf("squad", split="validation")

    assert asked == []


def test_the_hub_is_streamed_from_where_that_is_allowed(monkeypatch):
    asked = []

    def load_dataset(*where, **how):
        asked.append((where, how))
        return datasets.Dataset.from_list([{"question": "q"}]).to_iterable_dataset()

    monkeypatch.setattr("datasets.load_dataset", load_dataset)

    cases = judgekit.datasets.from_hf(
        "org/set", name="v2", split="test", revision="abc", download=True
    )

    assert [case.input for case in cases] == ["q"]
    assert asked == [(("org/set", "v2"), {"split": "test", "revision": "abc", "streaming": True})]


def test_nothing_is_sent_and_nobody_told():
    """In a process of its own that may not connect: a data set in and out, telemetry off."""
    code = """
import socket
def refused(*args): raise AssertionError(f"connected to {args}")
socket.socket.connect = socket.getaddrinfo = refused
import judgekit
data = judgekit.datasets.to_hf([judgekit.Case(id="a", input="q")])
assert [case.id for case in judgekit.datasets.from_hf(data)] == ["a"]
from huggingface_hub import constants
assert constants.HF_HUB_DISABLE_TELEMETRY
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout == "fine\n", done.stderr


def test_a_table_of_another_library_is_not_looked_for_by_importing_it():
    code = """
import sys, judgekit
list(judgekit.load_cases([{"input": "q"}]))
tables = {"pandas", "polars", "datasets", "judgekit.datasets.dataframes.libraries"}
print(sorted(tables & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_run_loads_nothing_that_only_frames_need():
    code = """
import sys, judgekit
judgekit.evaluate_sync([judgekit.Case(id="a", output="x")], judgekit.create_metric("exact_match"))
print(sorted(name for name in sys.modules if name.startswith("judgekit.datasets.dataframes")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
