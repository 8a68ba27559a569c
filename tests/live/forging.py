"""Runs `judgekit` in forks: arguments as a JSON line in, process id and exit code out.

Not a test: `forge.py` starts it, so that 20 runs import litellm once, and compile templates once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from judgekit.cli import main
from tests.forking import warm


async def call(base: str) -> None:
    """Make one call: it imports what litellm puts off."""
    from judgekit.core.request import ChatMessage, Form, Question, Request
    from judgekit.judges.connections import closing_connections
    from judgekit.judges.litellm import LiteLLMJudge

    request = Request(
        messages=(ChatMessage(role="user", content="Say yes."),),
        form=Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),)),
        model="openai/judge",
    )
    async with closing_connections():
        await LiteLLMJudge("openai/judge", api_base=base).ask(request)


def say(word: object) -> None:
    os.write(1, f"{word}\n".encode())


def forked(arguments: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    suite = Path(arguments[1])
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(suite.with_name(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    # Each suite has its own store, beside it.
    os.environ["JUDGEKIT_HOME"] = str(suite.with_name("store"))
    sys.argv = ["judgekit", *arguments]
    code = 1
    try:
        main()
    except SystemExit as exit_:
        code = int(exit_.code or 0)
    finally:
        os._exit(code)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(call(sys.argv[1]))
    warm()
    say("ready")
    for line in sys.stdin:
        child = forked(json.loads(line))
        say(child)
        _, status = os.waitpid(child, 0)
        say(os.waitstatus_to_exitcode(status))
