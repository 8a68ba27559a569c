"""The program inside the sandbox: it sets limits, then runs the answer, then its test.

The text of this file is passed to a separate interpreter, so it uses the standard library only. It
reads an order from standard input and writes a report to standard error. Each line of the report
begins with a secret word from the order. Standard output belongs to the answer.
"""

from __future__ import annotations


def main() -> None:  # noqa: C901, PLR0915 - one text, for an interpreter that has no other
    """Execute the order from standard input."""
    import builtins
    import json
    import os
    import resource
    import sys
    import types

    order = json.loads(sys.stdin.buffer.read())
    report, word, me = os.dup(2), order["word"].encode(), os.getpid()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 2)
    os.dup2(null, 0)
    os.close(null)

    def tell(line: bytes) -> None:
        if os.getpid() == me:  # a copy of this process must not report
            os.write(report, word + b" " + line + b"\n")

    def told(**facts: object) -> bytes:
        return json.dumps(facts, ensure_ascii=True).encode()

    if order.get("stdin") is not None:
        with open("stdin.txt", "w+", encoding="utf-8", newline="") as file:  # noqa: PTH123
            file.write(order["stdin"])
            file.seek(0)
            os.dup2(file.fileno(), 0)
        os.unlink("stdin.txt")  # noqa: PTH108
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    tell(told(ready=sys.version.split()[0]))
    # Built now, because it cannot be built without memory.
    no_memory = told(error="MemoryError", errno=None, text="out of memory", stage="answer")
    for name, most in order["limits"].items():
        limit = getattr(resource, "RLIMIT_" + name, None)
        if limit is not None:
            # One second after the warning, for an answer that ignores it.
            resource.setrlimit(limit, (most, most + 1 if name == "CPU" else most))

    # `site`, which defines them, is not loaded.
    vars(builtins).update(exit=sys.exit, quit=sys.exit)
    stage = "syntax"
    module = types.ModuleType(order["module"])
    sys.modules[order["module"]] = module
    try:
        code = None
        for number, program in enumerate(order["programs"], 1):
            try:
                code = compile(program, "answer.py", "exec")
                break
            except SyntaxError:
                if number == len(order["programs"]):
                    raise
        stage = "answer"
        # This file runs only as the child process that `sandbox` isolates and limits; it exists
        # to run an answer and then its tests.
        if code is not None:
            exec(code, module.__dict__)  # noqa: S102
        stage = "test"
        exec(compile(order["test"], "test.py", "exec"), module.__dict__)  # noqa: S102
        sys.stdout.flush()
        tell(told(done=True))
    except MemoryError:
        tell(no_memory)
    except SystemExit as exc:
        if order.get("stdin") is not None and exc.code in (None, 0):
            sys.stdout.flush()
            tell(told(done=True))
        else:
            tell(told(error="SystemExit", errno=None, text=f"exit {exc.code!r}"[:300], stage=stage))
    except BaseException as exc:  # noqa: BLE001 - whatever an answer raises is its outcome
        text = str(exc)[:300].encode("ascii", "backslashreplace").decode()
        kind = next((t.__name__ for t in type(exc).__mro__ if t.__module__ == "builtins"), "")
        errno = getattr(exc, "errno", None)
        tell(
            told(
                error=type(exc).__name__[:80],
                kind=kind,
                errno=errno if isinstance(errno, int) else None,
                text=text,
                stage=stage,
            )
        )
    # No exit handlers, no waiting for threads: the report is complete.
    os._exit(0)
