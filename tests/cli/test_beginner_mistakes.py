"""What beginners get wrong: each is told in one line, with the place and the next step."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import judgekit as package
from judgekit.authoring.scaffold.project import ProjectPlan, write_project
from judgekit.core.errors import JudgekitError
from judgekit.core.yaml_file import parse_yaml
from tests.each import each

TABLE = Path(__file__).parents[1] / "data" / "beginner_mistakes.yaml"
MISTAKES, _ = parse_yaml(TABLE.read_text("utf-8"), file=str(TABLE))


class Locked(BaseHTTPRequestHandler):
    """A server that no request is right for."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        model = body["model"]
        if not self.path.startswith("/v1/"):
            self._say(404, {"detail": "Not Found"})
        elif model == "locked":
            self._say(401, {"error": {"message": "Incorrect API key provided"}})
        elif model == "page":
            self._say(200, b"<html>Sign in</html>")
        else:
            message = f"The model `{model}` does not exist."
            self._say(404, {"error": {"message": message, "code": "model_not_found"}})

    def do_GET(self):
        self._say(404, {"detail": "Not Found"})

    def _say(self, status, said):
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "text/html" if data is said else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Locked)
    poll = {"poll_interval": 0.01}
    thread = threading.Thread(target=serving.serve_forever, kwargs=poll, daemon=True)
    thread.start()
    yield f"127.0.0.1:{serving.server_port}"
    serving.shutdown()
    thread.join()
    serving.server_close()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write_project(folder, ProjectPlan("shop"))
    return folder


def check(mistake, project, tmp_path, monkeypatch, judgekit, server):
    folder = tmp_path / "shop"
    shutil.copytree(project, folder)

    def put(text):
        return text.replace("SERVER", server)

    for name, text in mistake.get("files", {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    if "change" in mistake:
        name, what, by = mistake["change"]
        before = (folder / name).read_text("utf-8")
        assert before.count(what) == 1
        (folder / name).write_text(before.replace(what, put(by)), "utf-8")
    monkeypatch.chdir(folder / mistake.get("folder", "."))
    monkeypatch.setenv("COLUMNS", "100")

    said = put(mistake["says"])
    if "python" in mistake:
        with pytest.raises(JudgekitError) as caught:
            exec(mistake["python"], {"judgekit": package})
        assert f"{type(caught.value).__name__}: {caught.value}" == said
        return

    done = judgekit(*shlex.split(put(mistake["run"])), stdin="")

    assert done.code == mistake.get("code", 2)
    if done.code == 2:
        assert (done.out, done.err) == ("", f"{said}\n")
    else:
        # Beside results a line may be broken to fit the terminal.
        assert said in " ".join((done.out + done.err).split())


def chosen(*, live):
    table = [mistake for mistake in MISTAKES if mistake.get("live", False) is live]
    return pytest.mark.parametrize("mistake", table, ids=[mistake["name"] for mistake in table])


@chosen(live=False)
def test_a_mistake_is_told_in_one_line(mistake, project, tmp_path, monkeypatch, judgekit):
    check(mistake, project, tmp_path, monkeypatch, judgekit, "nowhere")


@pytest.mark.loopback
@chosen(live=True)
def test_a_mistake_about_a_judge_is_too(mistake, project, tmp_path, monkeypatch, judgekit, server):
    check(mistake, project, tmp_path, monkeypatch, judgekit, server)


def test_the_table_is_long_and_says_nothing_twice():
    assert len(MISTAKES) >= 160
    for key in ("name", "says"):
        assert len({mistake[key] for mistake in MISTAKES}) == len(MISTAKES)


@each("mistake", MISTAKES, ids=[mistake["name"] for mistake in MISTAKES])
def test_a_message_is_short_and_in_our_own_words(mistake):
    said = mistake["says"]

    assert len(said) < 320
    # Nothing of pydantic, Python or Jinja that only a programmer of judgekit knows.
    foreign = "Input should|valid string|valid dict|valid number|object at 0x|Errno|type=|NoneType"
    assert not re.search(foreign, said)
    # A cause and a next step: a suggestion, a command, an example, or what to write instead.
    assert re.search(r"; |\? |\?$|, not |: |, or |needs? |must ", said.removeprefix("judgekit: "))
