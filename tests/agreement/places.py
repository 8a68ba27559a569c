"""Run tests of this checkout on a scratch copy: what they say of a change that forgets a place."""

from __future__ import annotations

from tests.agreement.scratch import ROOT, Finished, ScratchPackage


def run_test(scratch: ScratchPackage, test: str, *args: object) -> Finished:
    """Run one test function on a copy; its exit code is not 0 if the test fails.

    Args:
        scratch: the copy.
        test: `module:function` below `tests`.
        args: the arguments of the function.
    """
    module, _, function = test.partition(":")
    code = f"""
        import sys
        sys.path.append({str(ROOT)!r})  # after the copy, which has only judgekit and rubrics
        from tests.{module} import {function}
        {function}(*{args!r})
    """
    return scratch.python(code, exits=None)
