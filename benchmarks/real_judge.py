"""Ask a real judge on this machine what built-in rubrics ask, where the verdicts are known.

    python benchmarks/real_judge.py MODEL.gguf --sha256 DIGEST --out FOLDER [--minutes 60]

Starts llama.cpp's server (`pip install xllamacpp`) with the weights of MODEL.gguf, and asks, the
cheapest first:

- `tests`: the first tests of every built-in rubric and version;
- `attacks`: answers that are known to be bad, plain and under twelve families of injected texts;
- `labelled`: answers that people labelled, of installed packages (`pip install --no-deps evals`);
- `support`: the first cases of `examples/support_assistant`;
- `calls`: criteria of cases in one request each, and eight in a request.

Every reply is stored at once in FOLDER. Run it again to go on: nothing is asked twice. FOLDER then
has `tape.jsonl` and `report.html` of all replies so far. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real import suites
from benchmarks.real.asked import Question, attacks_of, cheapest_first, labelled, rubric_tests
from benchmarks.real.page import Section, html_page, text_page
from benchmarks.real.results import (
    Answered,
    ask,
    attack_rows,
    labelled_rows,
    replies_of,
    test_rows,
)
from benchmarks.real.server import Weights, read_weights, serving
from judgekit.cassette.cassette import Cassette, store_opener
from judgekit.cassette.mode import RecordMode
from judgekit.core.score import Failure
from judgekit.core.yaml_file import Lines
from judgekit.judges.limits import LimitedJudge
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import make_judge

PARTS = ("attacks", "tests", "labelled", "support", "calls")


def main(argv: Sequence[str] | None = None) -> int:
    """Ask, and write the page; 130 after Ctrl-C."""
    options = _parser().parse_args(argv)
    until = time.monotonic() + 60 * options.minutes
    weights = read_weights(options.model, expected=options.sha256)
    print(f"{weights.path.name}: {weights.size:,} bytes, sha256 {weights.sha256}")
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    parts = options.only or PARTS
    questions = list(_questions(parts, options))
    stopped = False
    started: AbstractContextManager[tuple[str, str]] = nullcontext(
        (options.api_base or "", options.api_base or "no server")
    )
    if options.api_base is None and options.minutes > 0:
        started = serving(weights, threads=options.threads)
    server = "no server"
    try:
        with started as (address, server):
            judge = judge_of(weights, address=address, max_reason=options.max_reason)
            _ask_all(questions, judge, out=out, until=until)
            for part in suites.PARTS:
                if part in parts and time.monotonic() < until:
                    suites.run(part, judge, out=out, cases=options.cases)
    except KeyboardInterrupt:
        stopped = True
        print("stopped; run the same command to go on", file=sys.stderr)
    judge = judge_of(weights, address=None, max_reason=options.max_reason)
    sections = [_about(weights, server), *_sections(questions, judge, out), *suites.sections(out)]
    (out / "report.html").write_text(html_page(sections), "utf-8")
    print(text_page(sections))
    print(f"page: {out / 'report.html'}; tape: {out / 'tape.jsonl'}")
    return 130 if stopped else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path, help="GGUF file of an instruction-tuned model")
    parser.add_argument("--sha256", help="digest that the file must have")
    parser.add_argument("--out", type=Path, default=Path("real_judge"), help="folder to write")
    parser.add_argument("--api-base", help="a server that runs already, instead of starting one")
    parser.add_argument("--minutes", type=float, default=1e6, help="start no request after these")
    parser.add_argument("--only", action="append", choices=PARTS, help="part; may be repeated")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-reason", type=int, default=80, help="characters of a reason")
    parser.add_argument("--tests", type=int, default=2, help="tests of a rubric")
    parser.add_argument("--families", type=int, default=12, help="families of attacks")
    parser.add_argument("--answers", type=int, default=3, help="bad answers of a rubric")
    parser.add_argument("--cases", type=int, default=4, help="cases of a suite")
    return parser


def _questions(parts: Sequence[str], options: argparse.Namespace) -> Iterator[Question]:
    found: list[Question] = []
    if "attacks" in parts:
        found += attacks_of(families=options.families, answers=options.answers)
    if "tests" in parts:
        found += rubric_tests(options.tests)
    if "labelled" in parts:
        found += labelled()
    yield from cheapest_first(found)


def judge_of(weights: Weights, *, address: str | None, max_reason: int) -> JudgeFile:
    """Return the judge; its digest is part of every key, its address of none."""
    return JudgeFile.model_validate(
        {
            "model": f"openai/{weights.name}",
            "api_base": address or "http://127.0.0.1:9/v1",
            "identity": f"sha256:{weights.sha256}",
            "params": {"temperature": 0, "max_tokens": 700},
            "max_reason": max_reason,
            "timeout": 1_800,
            "price": {"input": 0, "output": 0},
        }
    )


@contextmanager
def recording(judge: JudgeFile, out: Path, *, record: RecordMode) -> Iterator[Cassette]:
    asking = record is not RecordMode.NONE
    made = make_judge(judge, base=Path(), lines=Lines(file=""), asking=asking)
    kept, tape = out / "store", out / "tape.jsonl"
    store = store_opener(None, folder=kept) if asking or kept.is_dir() else None
    # A killed run has replies in the store alone, so the page is made from the store.
    path = None if store is not None and not asking else tape
    with Cassette(LimitedJudge(made), tape=path, store=store, record=record) as cassette:
        yield cassette


def _ask_all(questions: Sequence[Question], judge: JudgeFile, *, out: Path, until: float) -> None:
    if not questions:
        return
    began = time.monotonic()
    with recording(judge, out, record=RecordMode.NEW_EPISODES) as cassette:
        for number, one in enumerate(ask(questions, cassette, until=until), 1):
            seconds = time.monotonic() - began
            where = f"{one.question.part} {one.question.rubric} {one.question.case.id}"
            print(f"{number}/{len(questions)} {seconds:.0f} s {where}: {_said(one)}", flush=True)


def _said(one: Answered) -> str:
    result = one.result
    if isinstance(result, Failure):
        return f"{result.kind}: {result.message}"
    return result.status if result.value is None else f"{result.value:.2f}"


def _about(weights: Weights, server: str) -> Section:
    rows = [
        ("weights", weights.path.name),
        ("sha256", weights.sha256),
        ("bytes", f"{weights.size:,}"),
        ("server", server),
        ("page made", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
    return Section("The judge", ("what", "value"), rows)


def _sections(questions: Sequence[Question], judge: JudgeFile, out: Path) -> Iterator[Section]:
    if not questions or not any((out / name).exists() for name in ("tape.jsonl", "store")):
        return
    with recording(judge, out, record=RecordMode.NONE) as cassette:
        answered = list(ask(questions, cassette, until=float("inf")))
    parts = {part: [a for a in answered if a.question.part == part] for part in PARTS}
    rows = []
    for part, ones in parts.items():
        replies = replies_of(ones)
        if ones:
            share = f"{replies.valid / replies.asked:.1%}" if replies.asked else "-"
            rows.append((part, str(len(ones)), str(replies.asked), str(replies.valid), share))
    yield Section("Replies", ("part", "questions", "asked", "valid", "share"), rows)
    invalid = [
        (part, one.case, one.kind, one.message)
        for part, ones in parts.items()
        for one in replies_of(ones).invalid
    ]
    yield Section("Invalid replies", ("part", "question", "kind", "message"), invalid)
    head = ("asked", "valid")
    yield Section(
        "First tests of rubrics",
        ("rubric", *head, "tests passed", "expectations met"),
        [row for row in test_rows(parts["tests"]) if row[1] != "0"],
    )
    outcomes = ("blocked", "succeeded", "blind", "failed")
    for by in ("rubric", "family"):
        yield Section(
            f"Attacks by {by}",
            (by, *head, *outcomes),
            [row for row in attack_rows(parts["attacks"], by=by) if row[1] != "0"],
            "blocked: bad, plain and attacked; succeeded: bad only when plain; blind: the plain "
            "answer was not called bad, so an attack shows nothing; failed: no verdict",
        )
    yield Section(
        "Labelled answers",
        ("set", "rubric", *head, "as people", "yes of judge and people"),
        [row for row in labelled_rows(parts["labelled"]) if row[2] != "0"],
    )


if __name__ == "__main__":
    sys.exit(main())
