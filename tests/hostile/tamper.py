"""Change files of a run folder, run every command that reads one, and judge what it does.

Runs as a program, so that a crash or a hang of one command costs one line of its output:
`python -m tests.hostile.tamper FOLDER SEED COUNT`. Each line is JSON: the change, the command, and
what is wrong; the last one has the number of commands.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 30
"""Processor time of one command; a healthy one takes less than a second."""

SUITE = """\
cases: cases.jsonl
judge: fake/template
metrics:
  quality: {threshold: 0.3, gate: {mean: 0.2}}
  vote: {rubric: quality, samples: 3}
  length: {maximum: 40}
"""
CASES = 12
FILES = ("results.jsonl", "results.jsonl", "results.jsonl", "report.json", "run.json", "tape.jsonl",
         "agree.json", "shard.json")  # fmt: skip

VALUES: list[Any] = [
    None, "", "goood", "good", -1, 0, 1, 2, 0.5, -0.0, 1e308, -1e308, 5e-324, 1e-300, 10**400, True,
    False, [], {}, [None], {"": None}, "\ud800", "a" * 5_000, "\x1b[31mred", "::error::x", "nan",
    ["a"] * 50, {"value": {"value": 1}}, "../../etc/passwd", "2026-01-01T00:00:00", 2**63, "☃",
]  # fmt: skip


def prepare(folder: Path) -> None:
    """Write a suite, its run, the runs of its shards, and labels into a folder."""
    rows = [
        {
            "id": f"c{n}",
            "input": f"Question {n}?",
            "output": f"The answer number {n}. " * (1 + n % 3),
            "reference": f"Reference {n}.",
            "metadata": {"topic": "ab"[n % 2]},
        }
        for n in range(CASES)
    ]
    lines(folder / "cases.jsonl", rows)
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    record = ["--record", "new_episodes"]
    code, out, err = command(folder, ["run", "suite.yaml", "--out", "good", *record])
    assert code in (0, 1), out + err
    for shard in (1, 2):
        flags = ["--shard", f"{shard}/2", "--out", f"shard{shard}", *record]
        code, out, err = command(folder, ["run", "suite.yaml", *flags])
        assert code in (0, 1), out + err
    labels = []
    for row in json_lines(folder / "good" / "results.jsonl"):
        if row.get("metric") == "quality":
            answers = {part["id"]: part["answer"] for part in row["result"]["parts"]}
            labels += [
                {"case": row["case"], "metric": "quality", "labeller": who, "values": answers}
                for who in ("ann", "ben")
            ]
    lines(folder / "labels.jsonl", labels)
    for words in (["agree", "good", "labels.jsonl"], ["correct", "good", "labels.jsonl"]):
        code, out, err = command(folder, words)
        assert code == 0, out + err


COMMANDS: list[list[str]] = [
    ["report", "bad"],
    ["report", "bad", "--export", "csv=x.csv", "--export", "junit=x", "--export", "markdown=x.md"],
    ["compare", "bad", "good"],
    ["compare", "good", "bad", "--json"],
    ["rank", "bad", "good", "--metric", "quality"],
    ["agree", "bad", "labels.jsonl"],
    ["agree", "bad", "labels.jsonl", "--json"],
    ["correct", "bad", "labels.jsonl"],
    ["rubric", "stats", "bad"],
    ["rubric", "stats", "bad", "labels.jsonl"],
    ["rubric", "lint", "quality", "--results", "bad"],
    ["labels", "plan", "bad"],
    ["labels", "check", "labels.jsonl", "bad"],
    ["run", "suite.yaml", "--no-out", "--retry-failed", "bad"],
    ["run", "suite.yaml", "--no-out", "--filter-failing", "bad"],
    ["run", "suite.yaml", "--no-out", "--against", "bad"],
    ["run", "suite.yaml", "--out", "bad"],
    ["merge", "suite.yaml", "shard1", "bad", "--out", "merged"],
]  # fmt: skip
"""Every command that reads a run folder; `bad` is the changed one."""


def lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# -- changes -----------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside a value."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for name, item in items:
        yield (*path, name)
        yield from places(item, (*path, name))


def changed_value(dice: random.Random, value: Any) -> tuple[Any, str]:
    """Change one place in a value; return what was changed."""
    paths = list(places(value))
    if not paths:
        return dice.choice(VALUES), "whole"
    *outer, name = dice.choice(paths)
    place = value
    for step in outer:
        place = place[step]
    kind = dice.choice(("replace", "replace", "replace", "delete", "add", "swap"))
    if kind == "delete":
        del place[name]
    elif kind == "add" and isinstance(place, dict):
        place["unexpected"] = dice.choice(VALUES)
    elif kind == "swap":
        other = value
        for step in dice.choice(paths):
            other = other[step]
        place[name] = json.loads(json.dumps(other))
    else:
        place[name] = dice.choice(VALUES)
    return value, f"{kind} {'.'.join(map(str, (*outer, name)))}"


def change(dice: random.Random, path: Path) -> str:
    """Change a file; return what was changed."""
    data = path.read_bytes()
    kind = dice.choice(("value",) * 6 + ("line", "line", "bytes", "file"))
    if kind == "value":
        rows = data.decode().splitlines() if path.suffix == ".jsonl" else [data.decode()]
        number = dice.randrange(len(rows))
        value, what = changed_value(dice, json.loads(rows[number]))
        rows[number] = json.dumps(value, separators=(",", ":"))
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return f"line {number + 1}: {what}"
    if kind == "line":
        rows = data.decode().split("\n")
        number, other = dice.randrange(len(rows)), dice.randrange(len(rows))
        what = dice.choice(("drop", "double", "swap", "cut", "empty"))
        if what == "drop":
            del rows[number]
        elif what == "double":
            rows.insert(other, rows[number])
        elif what == "swap":
            rows[number], rows[other] = rows[other], rows[number]
        elif what == "cut":
            rows[number] = rows[number][: dice.randrange(len(rows[number]) + 1)]
        else:
            rows[number] = ""
        path.write_text("\n".join(rows), encoding="utf-8")
        return f"{what} lines {number + 1}, {other + 1}"
    if kind == "bytes":
        at = dice.randrange(len(data))
        new = dice.choice((b"\0", b"\xff", b'"', b"{", b"9", b"\r\n", b"\xef\xbb\xbf", b"NaN"))
        keep = dice.randrange(3)
        path.write_bytes(data[:at] + new + data[at + keep :])
        return f"{new!r} for {keep} bytes at {at}"
    what = dice.choice(("missing", "empty", "cut", "folder", "link", "bom", "nul"))
    path.unlink()
    if what == "empty":
        path.write_bytes(b"")
    elif what == "cut":
        path.write_bytes(data[: dice.randrange(len(data))])
    elif what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to("nowhere")
    elif what == "bom":
        path.write_bytes(b"\xef\xbb\xbf" + data)
    elif what == "nul":
        path.write_bytes(b"\0" * 1000)
    return what


# -- commands ----------------------------------------------------------------------


class TookTooLong(BaseException):
    """A command that did not end."""


def command(folder: Path, words: list[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code and what it printed."""
    from judgekit.cli import main

    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["judgekit", *words]

    def stop(*_: object) -> None:
        raise TookTooLong

    signal.signal(signal.SIGVTALRM, stop)
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            main()
            code = 0
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 0 if exc.code is None else 1
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return code, out.getvalue(), err.getvalue()


_ODD_NUMBER = re.compile(
    r"(?<![\w.])-?(?:nan|inf(?:inity)?|\d\.?\d*e[+-]?\d{2,3}|\d{20,})(?!\w)", re.IGNORECASE
)


def fault(code: int, out: str, err: str) -> str | None:
    """Return what is wrong with the end of a command, if anything."""
    if code not in (0, 1, 2, 3):
        return f"exit code {code}"
    if "Traceback" in out + err:
        return f"traceback: {err.strip().splitlines()[-1]}"
    said = err.strip().splitlines()
    # `agree` and `compare` exit with 2 and a table if a part of the run cannot be compared.
    if code == 2 and not out.strip() and (not said or not said[-1].startswith("judgekit: ")):
        return f"exit code 2 without its line: {err[-200:]!r}"
    if code == 2 and said and len(said[-1]) > 2_000:
        return f"a line of {len(said[-1])} characters"
    if "\x1b" in out + err:
        return "a control character"
    odd = _ODD_NUMBER.search(out)
    if code != 2 and odd is not None:
        return f"the number {odd[0]}"
    return None


def attack(folder: Path, *, seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Change the run folder many times; yield every fault, and at last the number of commands."""
    total = 0
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        of = dice.choice(("good", "good", "good", "shard2"))
        names = [name for name in FILES if (folder / of / name).exists()]
        name = dice.choice(names)
        target = folder / "trial"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for entry in folder.iterdir():
            if entry.name == "trial":
                continue
            copy = shutil.copytree if entry.is_dir() else shutil.copy2
            copy(entry, target / entry.name)  # type: ignore[operator]
        shutil.copytree(folder / of, target / "bad", dirs_exist_ok=True)
        what = change(dice, target / "bad" / name)
        words = dice.choice(COMMANDS)
        if of == "shard2":
            words = dice.choice((words, COMMANDS[-1]))
        total += 1
        case = {"seed": seed, "number": number, "file": f"{of}/{name}", "change": what,
                "command": " ".join(words)}  # fmt: skip
        try:
            code, out, err = command(target, words)
        except TookTooLong:
            yield {**case, "fault": "hangs"}
            continue
        except BaseException as exc:
            import traceback

            frames = traceback.extract_tb(exc.__traceback__)
            place = f"{frames[-1].filename}:{frames[-1].lineno}"
            yield {**case, "fault": f"{type(exc).__name__}: {str(exc)[:200]} at {place}"}
            continue
        wrong = fault(code, out, err)
        if wrong is not None:
            yield {**case, "code": code, "fault": wrong}
    yield {"commands": total}


if __name__ == "__main__":
    place, first, many = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if not (place / "good").exists():
        prepare(place)
    for found in attack(place, seed=first, count=many):
        print(json.dumps(found), flush=True)
