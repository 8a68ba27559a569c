"""Runs `judgekit` in bounded forks of one process: a command as a JSON line in, exit code out.

Not a test: the fixture `forks` starts it, so that many commands import judgekit once.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

import judgekit.cli.execution
import judgekit.pages.run.page
import judgekit.report.report  # noqa: F401 - imported here once, and in no fork
from judgekit.cli import main


def bounded(*, memory: int, seconds: int, patience: int) -> None:
    """Bound the memory, processor time and time on the clock of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.alarm(patience)


def run(command: dict[str, Any]) -> None:
    """Run one command and exit."""
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    for stream, (name, flags) in enumerate(
        (
            (command["stdin"], os.O_RDONLY),
            (command["stdout"], os.O_WRONLY),
            (command["stderr"], os.O_WRONLY),
        )
    ):
        os.dup2(os.open(name, flags), stream)
    bounded(**command["bounds"])
    sys.argv = ["judgekit", *command["arguments"]]
    code = 1
    try:
        main()
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
