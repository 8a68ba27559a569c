"""The command line: a file per verb, no logic of its own."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an error judgekit knows is one line and exit code 2."""
    from judgekit.cli.app import app
    from judgekit.errors import JudgekitError

    try:
        app(prog_name="judgekit")
    except JudgekitError as exc:
        from judgekit.canonical import visible

        print(f"judgekit: {visible(str(exc))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has had enough; that is no error.
        sys.stderr.close()
        sys.exit(141)
