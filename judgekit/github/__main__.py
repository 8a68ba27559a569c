"""Run a suite in a workflow of GitHub: `python -m judgekit.github suite.yaml --out runs/all`.

The run writes the summary of the job and its annotations. For a pull request, the base branch is
replayed too, and one comment reports the run and what a changed rubric changes. A push gets the
summary only, and so does a pull request whose token may not write comments.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import Unreadable, read_text
from judgekit.github.comments import Comments, ReadOnlyError, fitted
from judgekit.github.rubric_changes import rubric_lines
from judgekit.report.export.findings import findings_of
from judgekit.report.export.github import command, summary_path
from judgekit.report.export.markdown import markdown_lines
from judgekit.report.report import Report

_MOST_EVENT = 64 * 2**20
AUTHOR = "github-actions[bot]"
"""The user of the token that GitHub gives to a job."""

Runs = Callable[[Sequence[str]], "Ran"]
"""Runs `judgekit` with these words."""


class Ran(NamedTuple):
    """A finished command: its exit code, and what it printed if it was asked for JSON."""

    code: int
    out: str = ""


def judgekit(words: Sequence[str]) -> Ran:
    """Run a command of judgekit; the output goes to the log of the step, except with `--json`.

    A runner reads commands from its log. Only `--github` keeps texts of cases from becoming some.
    """
    asked = "--json" in words
    done = subprocess.run(  # noqa: S603 - a list of words, no shell
        [sys.executable, "-m", "judgekit", *words],
        stdout=subprocess.PIPE if asked else None,
        stderr=subprocess.DEVNULL if asked else None,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Ran(done.returncode, done.stdout or "")


def pull_request_number(environment: Mapping[str, str]) -> int | None:
    """Return the number of the pull request of the event; `None` for another event.

    Raises:
        ConfigError: the event cannot be read, or would run foreign files with more rights.
    """
    event = environment.get("GITHUB_EVENT_NAME", "")
    if event == "pull_request_target":
        raise ConfigError(
            "on: pull_request_target gives the files of a pull request the rights of the "
            "repository; use pull_request"
        )
    if event != "pull_request":
        return None
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        data = json.loads(read_text(Path(path), most=_MOST_EVENT))
        number = data["pull_request"]["number"]
    except (OSError, ValueError, KeyError, TypeError, Unreadable) as exc:
        raise ConfigError(f"GITHUB_EVENT_PATH: {path!r} has no pull request") from exc
    if type(number) is not int or number < 1:
        raise ConfigError(f"GITHUB_EVENT_PATH: {path!r} has no number of a pull request")
    return number


def main(
    words: Sequence[str] | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    run: Runs = judgekit,
    say: Callable[[str], None] = print,
) -> int:
    """Run a suite, and report it to its pull request; return the exit code of the run."""
    parser = argparse.ArgumentParser(prog="python -m judgekit.github", description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/judgekit"))
    parser.add_argument("--export", action="append", default=[], help="FORMAT=FILE, as in `run`")
    parser.add_argument("--base", type=Path, help="checkout of the base; by default of HEAD^1")
    parser.add_argument("--author", default=AUTHOR, help="login of the token's user")
    given = parser.parse_args(words)
    try:
        number = pull_request_number(environment)
        summary = summary_path()
        exports = [word for export in given.export for word in ("--export", export)]
        where = ["run", str(given.suite), "--out", str(given.out), *exports]
        code = run([*where, "--github", "--quiet"]).code
        if number is not None:
            text = _report(given.suite, given.out, given.base, code=code, run=run, summary=summary)
            say(_commented(number, text, environment, suite=given.suite, author=given.author))
    except JudgekitError as exc:
        say(command("error", "judgekit", str(exc)))
        return 2
    return code


def _report(
    suite: Path, out: Path, base: Path | None, *, code: int, run: Runs, summary: Path
) -> str:
    """Return the text of the comment; what the run did not write goes into the summary, too."""
    if code not in (0, 1, 3):
        return f"The run did not start (exit code {code}); the log of the job says why.\n"
    head = Report.read(out)
    lines = list(markdown_lines(head, findings_of(head)))
    with TemporaryDirectory(prefix="judgekit-") as folder:
        if base is None and _checked_out(target := Path(folder) / "base"):
            base = target
        changed = [] if base is None else _changes(suite, base, Path(folder) / "run", head, run)
        if base is not None and base.is_relative_to(folder):
            _git("worktree", "remove", "--force", str(base))
    with summary.open("a", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{line}\n" for line in changed)
    return "\n".join([*lines, "", *changed])


def _changes(suite: Path, base: Path, out: Path, head: Report, run: Runs) -> list[str]:
    root = _git("rev-parse", "--show-toplevel")
    inside = suite.resolve().relative_to(Path(root).resolve()) if root else suite
    before = base / inside
    # The base may fail a gate (1) or miss a recording (3).
    if not before.is_file() or run(
        ["run", str(before), "--out", str(out), "--quiet", "--json"]
    ).code not in (0, 1, 3):
        return []

    def plan() -> Any:
        planned = run(["run", str(suite), "--plan", "--json"])
        return json.loads(planned.out) if planned.code == 0 else {}

    folders = (before.parent, suite.parent)
    return list(rubric_lines(Report.read(out), head, folders=folders, plan=plan))


def _checked_out(folder: Path) -> bool:
    """Check out the base, if rubrics differ from it.

    A pull request checks out the merge, whose first parent it is.
    """
    if _git("rev-parse", "--verify", "--quiet", "HEAD^2") is None:
        return False
    if not _git("diff", "--name-only", "HEAD^1", "HEAD", "--", "*.jinja"):
        return False
    return _git("worktree", "add", "--quiet", "--detach", str(folder), "HEAD^1") is not None


def _git(*words: str) -> str | None:
    """Return what git printed; `None` if it failed."""
    done = subprocess.run(  # noqa: S603 - a list of words, no shell
        ["git", *words],  # noqa: S607 - the git of the path
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def _commented(
    number: int, text: str, environment: Mapping[str, str], *, suite: Path, author: str
) -> str:
    """Write the comment; return what to print. A comment never changes the outcome of a run."""
    token = environment.get("GITHUB_TOKEN", "")
    if not token:
        return command("notice", "judgekit", "no GITHUB_TOKEN: the summary has the report")
    comments = Comments(
        api=environment.get("GITHUB_API_URL", "https://api.github.com"),
        repository=environment.get("GITHUB_REPOSITORY", ""),
        token=token,
        author=author,
    )
    # A digest: the name of a file could end the marker.
    marker = f"<!-- judgekit {hashlib.sha256(suite.as_posix().encode()).hexdigest()[:16]} -->"
    try:
        done = comments.put(number, marker=marker, text=fitted(text))
    except ReadOnlyError:
        what = "the token may not write comments, as in a fork: the summary has the report"
        return command("notice", "judgekit", what)
    except JudgekitError as exc:
        return command("warning", "judgekit", f"no comment was written: {exc}")
    return f"judgekit: the comment of pull request {number} is {done}"


if __name__ == "__main__":
    sys.exit(main())
