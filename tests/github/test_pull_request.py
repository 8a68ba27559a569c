"""One comment on a pull request, at a GitHub on this machine."""

from __future__ import annotations

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from judgekit.core.errors import ConfigError
from judgekit.github.__main__ import Ran, main, pull_request_number
from judgekit.github.comments import CommentError, Comments, ReadOnlyError, fitted
from tests.ci.runner import git, pull_request
from tests.docs.page import ROOT
from tests.docs.runner import in_process

EXAMPLE = ROOT / "examples" / "ci"
BOT = "github-actions[bot]"
TOKEN = "not-a-token"


class GitHub(BaseHTTPRequestHandler):
    """The comments of pull request 7, as GitHub's interface answers for them."""

    def log_message(self, format, *args):
        pass

    def answer(self, data, status=200):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def read(self):
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        self.server.asked.append(self.path)
        found = re.fullmatch(r"/repos/o/r/issues/7/comments\?per_page=100&page=(\d+)", self.path)
        if self.server.status or found is None:
            return self.answer({}, self.server.status or 404)
        start = (int(found[1]) - 1) * 100
        return self.answer(self.server.comments[start : start + 100])

    def do_POST(self):
        body = self.read()
        if self.server.read_only:
            return self.answer({"message": "Resource not accessible by integration"}, 403)
        assert self.path == "/repos/o/r/issues/7/comments"
        number = max((one["id"] for one in self.server.comments), default=0) + 1
        self.server.comments.append({"id": number, "user": {"login": BOT}, "body": body})
        return self.answer({}, 201)

    def do_PATCH(self):
        body = self.read()
        number = int(self.path.rpartition("/")[2])
        for comment in self.server.comments:
            if comment["id"] == number and comment["user"]["login"] == BOT:
                comment["body"] = body
                return self.answer(comment)
        return self.answer({}, 404)


@pytest.fixture
def github():
    with ThreadingHTTPServer(("127.0.0.1", 0), GitHub) as server:
        server.comments, server.asked, server.read_only, server.status = [], [], False, 0
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def comments(github, **changed):
    given = {
        "api": f"http://127.0.0.1:{github.server_port}",
        "repository": "o/r",
        "token": TOKEN,
        "author": BOT,
    }
    return Comments(**{**given, **changed})


def remark(number, body, login=BOT):
    return {"id": number, "user": {"login": login}, "body": body}


pytestmark = pytest.mark.loopback


def test_a_comment_is_written_once_and_then_edited(github):
    github.comments = [remark(n, f"talk {n}", "somebody") for n in range(1, 151)]
    put = comments(github).put

    assert put(7, marker="<!-- a -->", text="one") == "created"
    assert put(7, marker="<!-- a -->", text="one") == "unchanged"
    assert put(7, marker="<!-- a -->", text="two") == "edited"
    assert put(7, marker="<!-- b -->", text="other") == "created"
    assert [one["body"] for one in github.comments[150:]] == [
        "<!-- a -->\ntwo", "<!-- b -->\nother"
    ]  # fmt: skip


def test_a_comment_of_somebody_else_is_never_edited(github):
    github.comments = [remark(1, "<!-- a -->\nmine", "mallory"), {"id": 4}, remark(2, None)]

    assert comments(github).put(7, marker="<!-- a -->", text="one") == "created"
    assert github.comments[0]["body"] == "<!-- a -->\nmine"


def test_a_comment_that_was_deleted_meanwhile_is_written_again(github):
    listing = remark(9, "<!-- a -->\nold")
    put = comments(github)
    put._find = lambda number, marker: listing

    assert put.put(7, marker="<!-- a -->", text="new") == "created"


@pytest.mark.parametrize(
    ("status", "error"),
    [(403, ReadOnlyError), (404, ReadOnlyError), (500, CommentError), (302, CommentError)],
)
def test_a_refusal_is_an_error_and_no_redirect_is_followed(github, status, error):
    github.status = status

    with pytest.raises(error, match=str(status)):
        comments(github).put(7, marker="m", text="t")
    assert len(github.asked) == 1


def test_an_answer_that_is_no_list_is_an_error(github):
    github.comments = NoList()

    with pytest.raises(CommentError, match="list of comments"):
        comments(github).put(7, marker="m", text="t")


class NoList:
    def __getitem__(self, key):
        return {}


@pytest.mark.parametrize(
    "changed",
    [
        {"api": "http://example.com"},
        {"api": "file:///etc/passwd"},
        {"repository": "o/r/../../x"},
        {"repository": ""},
    ],
)
def test_the_token_goes_to_no_other_address(github, changed):
    with pytest.raises(ConfigError):
        comments(github, **changed)


def test_a_long_text_is_cut_between_lines():
    text = fitted("| a row |\n" * 10_000)

    assert len(text) < 65_536
    assert "| a row |\n\nThe rest" in text
    assert fitted("short") == "short"


# -- a suite in a pull request -----------------------------------------------------


@pytest.fixture
def repository(tmp_path, monkeypatch):
    folder = tmp_path / "desk"
    shutil.copytree(EXAMPLE, folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").touch()
    return folder


def ran(github, folder, *, event="pull_request", **changed):
    """Run the suite as the action does: the exit code, and what was printed."""
    path = folder.parent / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 7}, "before": "x"}), "utf-8")
    printed: list[str] = []

    def run(words):
        done = in_process(["judgekit", *words])
        printed.extend([] if "--json" in words else done.out.splitlines())
        return Ran(done.code, done.out)

    code = main(
        ["suite.yaml", "--out", "runs/all"],
        environment={
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_API_URL": f"http://127.0.0.1:{github.server_port}",
            "GITHUB_TOKEN": TOKEN,
            **changed,
        },
        run=run,
        say=printed.append,
    )
    return code, printed


def reword(folder: Path) -> None:
    rubric = folder / "rubrics/desk_answer.jinja"
    text = rubric.read_text("utf-8")
    rubric.write_text(text.replace("and nothing against them?", "in full?"), "utf-8")


def record(folder: Path) -> None:
    """Change the rubric, and record it with a verdict that flips."""
    reword(folder)
    verdicts = folder / "verdicts.jsonl"
    rows = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    for row in rows:
        if row["case"] == "late-book":
            row["answers"]["right"]["value"] = "none"
            row["answers"]["right"]["reason"] = "It is @all **wrong** | now."
    verdicts.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    words = ["judgekit", "run", "suite.yaml", "--record", "new_episodes", "--out", "runs/new"]
    assert in_process(words).code in (0, 1)


def test_a_push_gets_the_summary_only(github, repository, tmp_path):
    code, _ = ran(github, repository, event="push")

    assert code == 0
    assert github.comments == github.asked == []
    assert "Library desk" in (tmp_path / "summary.md").read_text("utf-8")


def test_a_rubric_without_a_recording_says_what_it_would_ask(github, repository):
    pull_request(repository, reword)

    code, printed = ran(github, repository)
    again, _ = ran(github, repository)

    (comment,) = github.comments
    assert (code, again) == (3, 3)
    assert "**Incomplete**" in comment["body"]
    assert "12 of 12 cases have no verdict by the new rubric" in comment["body"]
    assert "Not recorded: 12 requests to manual/example" in comment["body"].replace("\\", "")
    assert "criterion right text" in comment["body"].replace("\\", "")
    assert printed[-1] == "judgekit: the comment of pull request 7 is created"


def test_a_rubric_with_a_new_tape_shows_flips_with_both_reasons(github, repository, tmp_path):
    pull_request(repository, record)

    code, _ = ran(github, repository)

    (comment,) = github.comments
    assert code in (0, 1)
    assert "1 of 12 verdicts flipped" in comment["body"]
    (row,) = re.findall(r"^\| late\S+ \| .* pass: .*", comment["body"], re.M)
    assert "1.00 pass: " in row
    assert "**fail**: " in row
    assert "@all" not in row
    assert row.count(" | ") == 2
    assert "1 of 12 verdicts flipped" in (tmp_path / "summary.md").read_text("utf-8")
    assert not list(tmp_path.glob("**/worktrees/*"))


def test_a_fork_gets_the_summary_only_and_its_own_exit_code(github, repository, tmp_path):
    github.read_only = True
    pull_request(repository, lambda folder: (folder / "notes.txt").write_text("x", "utf-8"))

    code, printed = ran(github, repository)

    assert code == 0
    assert github.comments == []
    assert printed[-1].startswith("::notice title=judgekit::the token may not write comments")
    assert "Library desk" in (tmp_path / "summary.md").read_text("utf-8")


def test_hostile_ids_neither_write_markdown_nor_commands(github, repository):
    hostile = "x\n::add-mask::y|<!-- --> @all [a](http\u200b://b)"

    def change(folder):
        path = folder / "cases.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        changed = ({**row, "id": f"{hostile}{n}", "output": "no"} for n, row in enumerate(rows))
        path.write_text("".join(f"{json.dumps(row)}\n" for row in changed), "utf-8")

    pull_request(repository, change)

    code, printed = ran(github, repository)

    (comment,) = github.comments
    assert code == 3
    assert "@all" not in comment["body"]
    assert comment["body"].count("<!--") == 1
    assert "](http" not in comment["body"]
    outside = re.sub(r"::stop-commands::(\w+)\n.*?::\1::", "", "\n".join(printed), flags=re.S)
    assert [line for line in outside.splitlines() if line.startswith("::add-mask")] == []


@pytest.mark.parametrize(
    ("event", "data", "message"),
    [
        ("pull_request_target", "{}", "use pull_request"),
        ("pull_request", "{}", "no pull request"),
        ("pull_request", "[]", "no pull request"),
        ("pull_request", "", "no pull request"),
        ("pull_request", '{"pull_request": {"number": "7/../8"}}', "no number"),
        ("pull_request", '{"pull_request": {"number": true}}', "no number"),
    ],
)
def test_an_event_that_cannot_be_read_is_one_line(tmp_path, event, data, message):
    path = tmp_path / "event.json"
    path.write_text(data, "utf-8")

    with pytest.raises(ConfigError, match=message):
        pull_request_number({"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(path)})


def test_a_wrong_setup_is_an_error_of_the_step(github, repository):
    code, printed = ran(github, repository, GITHUB_EVENT_PATH="nowhere.json")

    assert code == 2
    assert printed == [
        "::error title=judgekit::GITHUB_EVENT_PATH: 'nowhere.json' has no pull request"
    ]


# -- the files of the repository ---------------------------------------------------


def test_the_action_is_pinned_and_takes_values_from_the_environment():
    text = (ROOT / "action.yml").read_text("utf-8")
    steps = yaml.safe_load(text)["runs"]["steps"]

    for line in text.splitlines():
        if "uses:" in line:
            assert re.search(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert not re.search(r"https?://", text)


def test_the_hooks_call_commands_that_exist():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))

    assert len(hooks) == 3
    for hook in hooks:
        rubric = EXAMPLE / "rubrics/desk_answer.jinja"
        tape = EXAMPLE / "cassettes/desk.jsonl"
        (file,) = (one for one in (rubric, tape) if re.search(hook["files"], one.as_posix()))
        assert in_process([*hook["entry"].split(), str(file), str(file)]).code == 0, hook["id"]
