"""Kill the commands of batch jobs at every step, and count what the provider was paid for.

Each trial runs `run --batch`, `batch`, `batch wait` and `run` on a server of one of three protocols
and kills one process with SIGKILL: at its n-th step (a file that it opens, cuts or renames, a lock,
a connection, a request that it sends) or at the n-th step of the server (before it carries out a
request, before its answer, after it). Then the commands go on. Prints a table: the kills, the
answers in jobs that were paid for twice, the live calls that a kill cut off and that were repeated,
the rows that were lost, the trials with an `unknown` job, and those ended with `--resend`.

    nice -n 15 python -m benchmarks.batch_kills --kills 200
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.batch.projects import Project
from tests.batch.server import Provider

MODELS = {
    "openai": "openai/fake",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "mistral": "mistral/mistral-large-latest",
}
COMMANDS = (
    ["run", "suite.yaml", "--out", "run", "--batch"],
    ["batch"],
    ["batch", "wait", "--timeout", "1s"],
    ["run", "suite.yaml", "--out", "run", "--record", "new_episodes"],
)
SCENARIOS = ("plain", "lost answer", "expired", "half failed", "not listed")
"""What goes wrong besides the kill. Every job has its replies in reverse order, one of them twice,
and one that belongs to no request."""
_CASES = 4
_COLUMNS = ("kills", "twice", "cut_off", "lost", "unknown", "resent")
_MOST = 12
"""Most commands of a trial; a process that is not killed needs four."""


class KillingProvider(Provider):
    """Kills the process that asks, at its `at`th step."""

    def __init__(self, protocol: str, *, scenario: str) -> None:
        super().__init__(protocol)
        self.scenario, self.steps, self.at, self.pid = scenario, 0, 0, 0
        self._counting = threading.Lock()
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # of the killed
        if scenario == "lost answer":
            names = {"openai": "/batches", "mistral": "/batch/jobs"}
            self.loses = {names.get(protocol, "/messages/batches")}
        if scenario == "expired":
            self.ends, self.most = "expired", _CASES // 2
        if scenario == "half failed":
            self.spoilt = {"case-1": "errored", "case-2": "errored"}

    def ends_here(self) -> bool:
        with self._counting:
            self.steps += 1
            if self.steps != self.at:
                return False
        os.kill(self.pid, signal.SIGKILL)
        return True

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        page = super().listed(query)
        return {**page, "data": "not listed"} if self.scenario == "not listed" else page

    def paid_twice(self) -> int:
        """Return the number of answers in jobs beyond the first answer to a request."""
        bodies = [body for job in self.jobs.values() for body in self._answered(job)]
        live = {json.dumps(body, sort_keys=True) for body in self.asked}
        jobs = Counter(json.dumps(body, sort_keys=True) for body in bodies)
        return sum(count - (body not in live) for body, count in jobs.items())

    def cut_off(self) -> int:
        """Return the number of live calls that were repeated: the kill came before their answer."""
        bodies = Counter(json.dumps(body, sort_keys=True) for body in self.asked)
        return sum(count - 1 for count in bodies.values())

    def _answered(self, job: dict[str, Any]) -> list[Any]:
        good = {line["id"] for line in job["lines"] if line["status"] == 200}
        return [body for id, body in job["requests"] if id in good]


class Ended(NamedTuple):
    """How a process ended."""

    killed: bool
    code: int
    steps: int
    """The steps that it took, if it was not killed."""
    output: str


class Forker:
    """Starts commands in processes that are forked from one that has imported the libraries."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.batch_kills", "--forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, argv: list[str], *, folder: Path, at: int = 0, begun: Callable[[int], None]
    ) -> Ended:
        """Run a command in a folder; it kills itself at its `at`th step."""
        self._say({"argv": argv, "folder": str(folder), "at": at})
        begun(self._hear()["pid"])
        self._say({})
        return Ended(**self._hear())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, data: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(data) + "\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        heard: dict[str, Any] = json.loads(self._process.stdout.readline())
        return heard


def fork_commands() -> None:
    """Fork a process for each command that standard input names."""
    from judgekit.judges.transport import Server
    from judgekit.judges.via_litellm import LiteLLMTransport

    LiteLLMTransport(Server("openai/x", None, None, 1, 0, 1, None), reason="").load()
    for line in sys.stdin:
        asked = json.loads(line)
        ready, go = os.pipe()
        pid = os.fork()
        if not pid:
            os.read(ready, 1)
            _command(**asked)
        print(json.dumps({"pid": pid}), flush=True)
        sys.stdin.readline()
        os.write(go, b"x")
        os.close(go)
        os.close(ready)
        _, status = os.waitpid(pid, 0)
        folder = Path(asked["folder"])
        steps = folder / "steps"
        ended = Ended(
            killed=os.WIFSIGNALED(status),
            code=os.waitstatus_to_exitcode(status),
            steps=int(steps.read_text()) if steps.exists() else 0,
            output=(folder / "output").read_text("utf-8", "replace"),
        )
        steps.unlink(missing_ok=True)
        print(json.dumps(ended._asdict()), flush=True)


def _command(*, argv: list[str], folder: str, at: int) -> None:
    """Run a command in this process, which does not return."""
    taken = 0

    def step(event: str, args: tuple[Any, ...]) -> None:
        nonlocal taken
        if event in _STEPS or (event == "open" and str(args[0]).startswith(folder) and args[1]):
            taken += 1
            if taken == at:
                os.kill(os.getpid(), signal.SIGKILL)

    os.chdir(folder)
    os.environ["JUDGEKIT_HOME"] = f"{folder}/.judgekit"
    os.environ["NO_PROXY"] = "127.0.0.1"
    output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    from judgekit.cli import main

    sys.argv = ["judgekit", *argv]
    sys.addaudithook(step)
    code = 1
    try:
        main()
        code = 0
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    finally:
        total = taken
        at = 0
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        Path("steps").write_text(str(total))
        os._exit(code)


_STEPS = frozenset({
    "os.rename", "os.truncate", "os.remove", "fcntl.flock", "http.client.connect",
    "http.client.send", "socket.connect",
})  # fmt: skip


class Trial(NamedTuple):
    """What a trial showed."""

    killed: bool
    twice: int
    cut_off: int
    lost: int
    unknown: int
    resent: int
    steps: int
    faults: tuple[str, ...] = ()


def trial(
    forker: Forker,
    folder: Path,
    protocol: str,
    scenario: str,
    *,
    side: str,
    at: int,
    expected: list[Any] | None,
) -> tuple[Trial, list[Any]]:
    """Run the commands with one kill, and go on until all rows are there."""
    provider = KillingProvider(protocol, scenario=scenario)
    with provider:
        folder.mkdir()
        project = Project(folder / "p", provider.base, model=MODELS[protocol], cases=_CASES)
        if side == "server":
            provider.at = at
        left, killed, steps, unknown, resent = (at if side == "process" else 0), False, 0, 0, 0
        faults: list[str] = []
        waiting = list(COMMANDS)
        begun = lambda pid: setattr(provider, "pid", pid)  # noqa: E731
        code = None
        for _ in range(_MOST):
            argv = waiting[0]
            ended = forker.run(argv, folder=project.folder, at=max(left, 0), begun=begun)
            if ended.killed:
                killed, left = True, 0
                continue
            steps += ended.steps
            left = left - ended.steps if left > ended.steps else 0
            if "Traceback" in ended.output:
                faults.append(ended.output[-400:])
            code = ended.code
            jobs = project.jobs.all
            if "--resend" in argv:
                resent += 1
                waiting = [COMMANDS[-1]]
                continue
            if len(waiting) > 1:
                waiting.pop(0)
                continue
            if code == 0:
                break
            states = {job.state for job in jobs}
            if code != 4:
                faults.append(f"exit code {code}: {ended.output[-300:]}")
            _a_minute_later(project)
            for job in provider.jobs.values():
                provider.look(job["id"])
            if "unknown" in states:
                unknown += 1
                if unknown > 2:  # it stays so: a person decides
                    waiting = [[*COMMANDS[-1], "--resend"]]
        for job in provider.jobs.values():
            provider.look(job["id"])
        rows = project.rows() if code == 0 else []
    twice, cut_off = provider.paid_twice(), provider.cut_off()
    lost = 0 if expected is None else sum(row not in rows for row in expected)
    total = steps if side == "process" else provider.steps
    if twice and not resent:
        faults.append(f"paid twice: {side} {at}")
    if lost:
        faults.append(f"lost: {side} {at}: {ended.output[-300:]}")
    return Trial(killed, twice, cut_off, lost, unknown, resent, total, tuple(faults)), rows


def _a_minute_later(project: Project) -> None:
    """Let the submits in the journal be a minute older."""
    journal = project.home / "batches.jsonl"
    if not journal.exists():
        return
    with journal.open("a") as file:
        for job in project.jobs.open:
            if job.sent_at is not None and job.uptime is not None:
                earlier = {"sent_at": job.sent_at - 61, "uptime": job.uptime - 61}
                line = {"intent": job.intent, **earlier}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


def main() -> None:
    """Run the trials, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--only", choices=MODELS, help="one protocol")
    parser.add_argument("--forker", action="store_true")
    chosen = parser.parse_args()
    if chosen.forker:
        fork_commands()
        return
    forker = Forker()
    protocols = [chosen.only] if chosen.only else list(MODELS)
    cells = [(protocol, scenario) for protocol in protocols for scenario in SCENARIOS]
    each = max(2, -(-chosen.kills // len(cells)))
    print(f"protocol | besides the kill | {' | '.join(_COLUMNS)}")
    totals: Counter[str] = Counter()
    for protocol, scenario in cells:
        sums: Counter[str] = Counter()
        base = Path(tempfile.mkdtemp(prefix="judgekit-kills-"))
        whole, expected = trial(
            forker, base / "0", protocol, scenario, side="process", at=0, expected=None
        )
        counted, _ = trial(
            forker, base / "1", protocol, scenario, side="server", at=0, expected=expected
        )
        for number in range(each):
            side, total = ("process", whole.steps) if number % 2 else ("server", counted.steps)
            at = 1 + (number // 2) * total // max(1, (each + 1) // 2)
            folder = base / f"{number + 2}"
            done, _ = trial(forker, folder, protocol, scenario, side=side, at=at, expected=expected)
            sums.update(
                kills=done.killed, twice=done.twice * (not done.resent),
                cut_off=done.cut_off, lost=done.lost,
                unknown=bool(done.unknown), resent=done.resent,
            )  # fmt: skip
            for fault in done.faults:
                print(f"FAULT {protocol} {scenario} {side} {at} {folder}: {fault}", flush=True)
        shutil.rmtree(base, ignore_errors=True)
        totals += sums
        cell = (sums[name] for name in _COLUMNS)
        print(f"{protocol} | {scenario} | {' | '.join(map(str, cell))}", flush=True)
    cell = (totals[name] for name in _COLUMNS)
    print(f"all | | {' | '.join(map(str, cell))}")
    forker.close()


if __name__ == "__main__":
    main()
