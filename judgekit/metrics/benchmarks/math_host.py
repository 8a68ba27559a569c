"""A process that compares mathematics: it loads the library once, and forks for each comparison.

Each comparison runs in a copy (fork) with separate limits, so an answer cannot affect the caches,
memory or time of the next one. The text of this file is passed to an interpreter, so it imports
nothing from judgekit. Orders and answers are lines of JSON.
"""

from __future__ import annotations


def main() -> None:  # noqa: C901, PLR0915 - one text, for an interpreter that has no other
    """Answer orders until the input ends."""
    import gc
    import json
    import os
    import re
    import resource
    import select
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import logging
    from importlib.metadata import version

    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify

    answers = os.dup(1)
    os.dup2(2, 1)  # the output of a library is not an answer

    def say(**facts: object) -> None:
        os.write(answers, json.dumps(facts).encode() + b"\n")

    def read(text: str) -> list[object]:
        """Parse a text; if it is only an expression, parse it as LaTeX first."""
        found = list(parse(text, parsing_timeout=None))
        marked = any(sign in text for sign in ("\n", "$", "\\boxed", "\\(", "\\["))
        word = r"(?<![\\a-z])(?!sin|cos|tan|log|exp|inf)[a-z]{3}"
        if marked or (re.search(word, text, re.IGNORECASE) and "\\begin" not in text):
            return found
        latex = text.replace("\\%", "%").replace("%", "\\%")
        return [*parse(f"${latex}$", parsing_timeout=None), *found]

    def shown(found: list[object]) -> str | None:
        return str(found[0])[:200] if found else None

    def compare(order: dict[str, object]) -> dict[str, object]:
        output = read(str(order["output"]))
        references = [read(text) for text in order["references"]]  # type: ignore[attr-defined]
        matched = next(
            (
                number
                for number, reference in enumerate(references)
                if reference
                and output
                and verify(reference, output, strict=order["strict"], timeout_seconds=None)
            ),
            None,
        )
        return {
            "matched": matched,
            "output": shown(output),
            "references": [shown(found) for found in references],
        }

    def resident(pid: int) -> int:
        """Return the resident memory of a copy in bytes; 0 if it is unknown."""
        try:
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:  # noqa: PTH123
                return int(file.read().split()[1]) * resource.getpagesize()
        except (OSError, IndexError):
            return 0

    def work(order: dict[str, object]) -> None:
        """Run a comparison in this copy; the kernel ends it if it exceeds a limit."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        seconds = float(order["seconds"])  # type: ignore[arg-type]
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 2)
        # The kernel's limit has a resolution of whole seconds.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        for limit, most in (
            (resource.RLIMIT_CPU, int(seconds + 0.999)),
            # Far above the watched limit: the library returns an answer if an allocation fails.
            (resource.RLIMIT_AS, 4 << 30),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (most, most))
        try:
            facts = compare(order)
        except MemoryError:
            facts = {"ended": "memory"}
        except BaseException as exc:  # noqa: BLE001 - whatever the library raises is its outcome
            facts = {"ended": f"{type(exc).__name__}: {str(exc)[:200]}"}
        say(id=order["id"], **facts)

    # Run once here, so that patterns and tables are not created in every copy.
    for text in ("$\\frac{1}{2}$", "0.5", "$\\{1,2\\}$", "\\boxed{x^2 + 1}"):
        verify(parse(text, parsing_timeout=None), read(text), timeout_seconds=None)
    say(ready={"math-verify": version("math-verify"), "sympy": version("sympy")})
    gc.freeze()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    at_work: dict[int, dict[str, object]] = {}
    rest = b""
    while True:
        ready, _, _ = select.select([0, wake], [], [], 0.05 if at_work else None)
        for pid, order in at_work.items():
            if resident(pid) > int(order["memory"]):  # type: ignore[call-overload]
                say(id=order["id"], ended="memory")
                os.kill(pid, signal.SIGKILL)
        if wake in ready:
            os.read(wake, 4096)
            while at_work:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                # Always sent; if the copy has answered already, only its answer counts.
                say(id=at_work.pop(pid)["id"], ended=f"signal {os.WTERMSIG(status)}")
        if 0 in ready:
            chunk = os.read(0, 1 << 20)
            if not chunk:
                for pid in at_work:
                    os.kill(pid, signal.SIGKILL)
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    work(order)
                    os._exit(0)
                at_work[pid] = order
