"""The onnx embedder, on a model small enough to work out by hand."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.embedders import open_embedder, vectors
from judgekit.embedders.onnx import OnnxEmbedder
from judgekit.embedders.shared import SharedEmbedder
from judgekit.metrics.embedding.similarity import Similarity
from judgekit.suite.run import run_suite
from judgekit.suite.suite import build_suite
from tests import forks
from tests.embedders import tiny_onnx


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_onnx.write_folder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def own(tmp_path):
    """A folder to change."""
    return tiny_onnx.write_folder(tmp_path / "model")


def unit(*numbers):
    return np.array(numbers) / np.linalg.norm(numbers)


def embedded(embedder, *texts):
    return np.asarray(embedder.embed(list(texts)))


# -- what a vector is ---------------------------------------------------------------


def test_a_vector_is_the_mean_of_the_tokens_at_length_1(folder):
    found = embedded(OnnxEmbedder(str(folder)), "sea", "sea land sky")

    # [CLS] sea [SEP], and [CLS] sea land sky [SEP]: the table's rows, added.
    assert np.allclose(found[0], unit(1.5, 0.5, 0, 0), atol=1e-6)
    assert np.allclose(found[1], unit(1.5, 1.5, 1, 0), atol=1e-6)
    assert found.dtype == np.float32


def test_padding_does_not_count(folder):
    # In one batch the short text is padded with [PAD], whose row is the largest by far.
    together = embedded(OnnxEmbedder(str(folder)), "sea", "land " * 50)
    alone = embedded(OnnxEmbedder(str(folder), batch_tokens=1), "sea", "land " * 50)

    assert np.allclose(together, alone, atol=1e-6)


def test_the_first_token_is_taken_where_the_folder_or_the_suite_says_so(own):
    settings_file = own / "1_Pooling" / "config.json"
    settings_file.parent.mkdir()
    settings_file.write_text(json.dumps({"pooling_mode_cls_token": True}), encoding="utf-8")

    for embedder in (OnnxEmbedder(str(own)), OnnxEmbedder(str(own), pooling="cls")):
        assert np.allclose(embedded(embedder, "sea land")[0], unit(1, 0, 0, 0))
    mean = OnnxEmbedder(str(own), pooling="mean")
    assert np.allclose(embedded(mean, "sea land")[0], unit(1.5, 1.5, 0, 0))


def test_an_assumed_pooling_is_said(own, caplog):
    (own / "1_Pooling" / "config.json").unlink(missing_ok=True)

    assert OnnxEmbedder(str(own), pooling="mean").pooling == "mean"
    assert caplog.text == ""
    assert OnnxEmbedder(str(own)).pooling == "mean"
    assert "config.json is missing; assuming pooling: mean. Set pooling: mean or cls" in caplog.text


def test_another_pooling_has_to_be_said(own):
    settings_file = own / "1_Pooling" / "config.json"
    settings_file.parent.mkdir()
    settings_file.write_text(json.dumps({"pooling_mode_max_tokens": True}), encoding="utf-8")

    with pytest.raises(ConfigError, match="requires pooling_mode_max_tokens; set pooling: mean"):
        embedded(OnnxEmbedder(str(own)), "sea")


def test_long_texts_are_cut_where_the_folder_or_the_suite_says_so(own):
    (own / "sentence_bert_config.json").write_text('{"max_seq_length": 3}', encoding="utf-8")

    cut = embedded(OnnxEmbedder(str(own)), "sea land land")
    whole = embedded(OnnxEmbedder(str(own), max_tokens=9), "sea land land")

    assert np.allclose(cut[0], unit(1.5, 0.5, 0, 0))
    assert np.allclose(whole[0], unit(1.5, 2.5, 0, 0))


def test_a_model_that_gives_sentences_itself_is_taken_at_its_word(tmp_path):
    folder = tiny_onnx.write_folder(tmp_path / "pooled", pooled=True)

    assert np.allclose(embedded(OnnxEmbedder(str(folder)), "sea")[0], unit(1.5, 0.5, 0, 0))


def test_a_model_may_want_token_types(tmp_path):
    names = ("input_ids", "attention_mask", "token_type_ids")
    folder = tiny_onnx.write_folder(tmp_path / "typed", inputs=names)

    assert np.allclose(embedded(OnnxEmbedder(str(folder)), "sea")[0], unit(1.5, 0.5, 0, 0))


def test_a_text_without_tokens_is_the_zero_vector(folder):
    embedder = OnnxEmbedder(str(folder))

    assert not embedded(embedder, "", " \n", "sea")[:2].any()


def test_no_texts_are_no_rows(folder):
    assert embedded(OnnxEmbedder(str(folder))).shape == (0, 4)


@pytest.mark.parametrize(
    "text",
    ["\ud800 sea", "sea\x00land", "\u202esea", "é" * 10_000, "sea " * 250_000, "\U0001f469\u200d"],
)
def test_any_text_has_a_vector_in_seconds(folder, text):
    assert np.isfinite(embedded(OnnxEmbedder(str(folder)), text)).all()


# -- the rule: scores to four decimals, the same by other batches ---------------------


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["sea", "land", "sky", "x"]), min_size=1, max_size=30)
             .map(" ".join), min_size=2, max_size=12),
    st.sampled_from([1, 16, 4096]),
)  # fmt: skip
def test_scores_are_the_same_by_other_batches_and_threads(folder, texts, budget):
    usual = SharedEmbedder(OnnxEmbedder(str(folder)))
    other = SharedEmbedder(OnnxEmbedder(str(folder), batch_tokens=budget, threads=1))

    async def scored(embedder):
        metric = Similarity(embedder=embedder)
        cases = [Case(id="1", output=text, reference=texts[0]) for text in texts]
        return [score.value for score in await asyncio.gather(*map(metric.score, cases))]

    assert asyncio.run(scored(usual)) == asyncio.run(scored(other))


# -- who it is ------------------------------------------------------------------------


def test_the_identity_is_the_files_and_what_is_made_of_them(own):
    first = OnnxEmbedder(str(own))
    digest = hashlib.sha256((own / "model.onnx").read_bytes()).hexdigest()

    assert first.identity.startswith(f"onnx/{digest}/")
    assert first.hashes["model"] == digest
    others = {
        OnnxEmbedder(str(own), pooling="cls").identity,
        OnnxEmbedder(str(own), max_tokens=9).identity,
    }
    (own / "tokenizer.json").write_text(
        (own / "tokenizer.json").read_text(encoding="utf-8") + "\n", encoding="utf-8"
    )
    others.add(OnnxEmbedder(str(own)).identity)
    assert len({first.identity, *others}) == 4
    assert OnnxEmbedder(str(own), threads=1, batch_tokens=7).identity in others


def test_a_model_that_is_not_the_wanted_one_is_not_run(own):
    digest = hashlib.sha256((own / "model.onnx").read_bytes()).hexdigest()
    assert embedded(OnnxEmbedder(str(own), sha256=digest.upper()), "sea").any()

    wrong = OnnxEmbedder(str(own), sha256="0" * 64)
    with pytest.raises(ConfigError, match=rf"model.onnx has the SHA-256 {digest}, not 000"):
        embedded(wrong, "sea")
    with pytest.raises(ConfigError, match="has the SHA-256"):
        wrong.identity  # noqa: B018 - looking is the test


# -- what is wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("onnx", "embedder: onnx needs a model; write onnx:MODEL"),
        ("onnx:", "embedder: onnx needs a model"),
        ("onnx:nowhere", "embedder: no such folder: nowhere; a hub's model is written"),
        ("onyx:model", "'onyx:model' is not known; did you mean 'onnx'?"),
        ({"onnx": 3}, "embedder: onnx must be the name or folder of a model, not 3"),
        ({"onnx": "model", "lexical": "x", "sentence_transformers": "y"}, "a mapping names one of"),
        ({"path": "model"}, "a mapping names one of onnx, sentence_transformers, not path"),
        ({"onnx": "model", "thread": 2}, "onnx takes no option 'thread'; did you mean 'threads'?"),
        ({"onnx": "model", "threads": 0}, "threads must be a whole number of at least 1, not 0"),
        ({"onnx": "model", "threads": True}, "threads must be a whole number"),
        ({"onnx": "model", "pooling": "max"}, "pooling must be mean or cls, not 'max'"),
        ({"onnx": "model", "sha256": 12}, "sha256 must be a text, not 12"),
        ({"onnx": "model", "download": "yes"}, "download must be true or false, not 'yes'"),
        ({"onnx": "empty"}, "empty has no tokenizer.json"),
    ],
)
def test_a_wrong_spec_is_one_line(own, spec, message):
    (own.parent / "empty").mkdir()

    with pytest.raises(ConfigError) as caught:
        open_embedder(spec, base=own.parent)

    assert message in str(caught.value).replace(f"{own.parent}/", "")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.onnx", b"not a model", "model.onnx cannot be loaded: "),
        ("model.onnx", b"", "model.onnx cannot be loaded: "),
        ("model.onnx", None, "has no model.onnx or onnx/model.onnx"),
        ("tokenizer.json", b"{}", "tokenizer.json is not a tokenizer: "),
        ("tokenizer.json", b"\xff", "tokenizer.json is not a tokenizer: "),
        ("sentence_bert_config.json", b"[3]", "must contain a JSON object"),
        ("sentence_bert_config.json", b"{", "cannot be read: "),
        ("model.onnx", tiny_onnx.model(inputs=("input_ids", "pixels")), "requires pixels in"),
    ],
)
def test_a_broken_file_is_one_line(own, file, content, message):
    (own / file).unlink(missing_ok=True)
    if content is not None:
        (own / file).write_bytes(content)

    with pytest.raises(ConfigError) as caught:
        embedded(OnnxEmbedder(str(own)), "sea")

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("said", ['{"max_seq_length": -1}', '{"max_seq_length": "all"}', "{}"])
def test_a_limit_that_is_none_is_not_heeded(own, said):
    (own / "sentence_bert_config.json").write_text(said, encoding="utf-8")

    assert OnnxEmbedder(str(own)).max_tokens == 512


def test_a_model_of_a_hub_that_is_not_on_this_machine_is_said(tmp_path):
    code = (
        "from judgekit.embedders import open_embedder\n"
        "from judgekit.core.errors import ConfigError\n"
        "import socket\n"
        "def refused(*a, **k): raise AssertionError('reached out')\n"
        "socket.socket.connect = socket.getaddrinfo = refused\n"
        "try: open_embedder('onnx:some/model@abc123')\n"
        "except ConfigError as exc: print(exc)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"HF_HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("embedder: some/model@abc123 is not on this machine; allow it")


@pytest.mark.parametrize(
    ("hidden", "spec", "extra"),
    [
        ("onnxruntime", "onnx:model", "onnx"),
        ("tokenizers", "onnx:model", "onnx"),
        ("sentence_transformers", "sentence_transformers:model", "sentence-transformers"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(own, hidden, spec, extra):
    code = (
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name: None if name == {hidden!r} else found(name)\n"
    )
    (own.parent / "sitecustomize.py").write_text(code, encoding="utf-8")
    suite = {"cases": "c.jsonl", "embedder": spec, "metrics": {"similarity": {}}}
    (own.parent / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")

    environment = {**os.environ, "PYTHONPATH": str(own.parent)}
    done = forks.run(["run", "suite.yaml"], cwd=own.parent, env=environment)

    assert done.returncode == 2
    assert f"needs an extra: pip install 'judgekit-rubrics[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


# -- in a suite -------------------------------------------------------------------------


def wired(folder, **changes):
    rows = [
        {"id": str(n), "output": "sea " * (n + 1), "reference": "sea land", "baseline": "sky"}
        for n in range(6)
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    data = {
        "cases": "cases.jsonl",
        "embedder": {"onnx": "model", "threads": 1},
        "metrics": {
            "similarity": {},
            "again": {"metric": "similarity", "to": "baseline"},
            "words": {"metric": "similarity", "embedder": "lexical"},
        },
        **changes,
    }
    return build_suite(data, base=folder)


def test_a_suite_embeds_by_a_model_beside_it_and_says_by_which(own, tmp_path):
    suite = wired(own.parent)
    identity = OnnxEmbedder(str(own)).identity

    report = asyncio.run(run_suite(suite, out=tmp_path / "run"))

    rows = [scored.rows for scored in report.results]
    assert {row[0].result.meta["embedder"] for row in rows} == {identity}
    assert {row[1].result.meta["embedder"] for row in rows} == {identity}
    assert {row[2].result.meta["embedder"] for row in rows} == {"lexical-1/4096"}
    assert suite.metrics[0].embedder is suite.metrics[1].embedder
    # Where the model lies is nobody else's business.
    header = (tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8")
    manifest = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert str(tmp_path) not in header + json.dumps(manifest)
    assert identity in json.dumps(manifest)


def test_a_second_run_reads_the_vectors_and_never_loads_the_model(own, tmp_path):
    suites = [wired(own.parent) for _ in range(2)]
    for number, suite in enumerate(suites):
        asyncio.run(run_suite(suite, out=tmp_path / f"run{number}"))

    first, second = (suite.metrics[0].embedder.embedder for suite in suites)
    assert "_session" in first.__dict__
    assert "_session" not in second.__dict__
    results = [(tmp_path / f"run{n}" / "results.jsonl").read_bytes() for n in (0, 1)]
    assert results[0] == results[1]


def test_a_wrong_embedder_of_a_suite_is_said_with_its_place(own):
    (own.parent / "suite.yaml").write_text(
        "cases: c.jsonl\nembedder: {onnx: modle}\nmetrics: {similarity: }\n", encoding="utf-8"
    )
    from judgekit.suite.suite import load_suite

    with pytest.raises(ConfigError, match=r"suite.yaml:2: embedder: no such folder"):
        load_suite(own.parent / "suite.yaml")
    for wrong, message in ((3, "embedder"), ([1], "embedder")):
        with pytest.raises(ConfigError, match=message):
            wired(own.parent, embedder=wrong)
        with pytest.raises(ConfigError, match="embedder must be a name or a mapping"):
            wired(own.parent, metrics={"similarity": {"embedder": wrong}})


def test_the_seam_takes_a_mapping_without_a_suite(own):
    found = asyncio.run(vectors({"onnx": str(own)}, ["sea", "land"]))

    assert np.allclose(found[0], unit(1.5, 0.5, 0, 0))
