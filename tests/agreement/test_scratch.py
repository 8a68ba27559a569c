"""The scratch copy itself: it runs its own code, and a text to replace must be there once."""

from __future__ import annotations

import pytest

from tests.agreement.scratch import ScratchPackage


def test_the_processes_of_a_copy_run_its_code(tmp_path):
    scratch = ScratchPackage(tmp_path)
    scratch.replace("__init__.py", '__version__ = "', '__version__ = "9.9.')

    assert scratch.judgekit("--version").out.startswith("judgekit 9.9.")
    code = """
        import judgekit
        from judgekit.rubric.library import builtin_folder
        print(judgekit.__file__, builtin_folder())
    """
    module, rubrics = scratch.python(code).out.split()
    assert module == str(scratch.root / "judgekit" / "__init__.py")
    assert rubrics == str(scratch.root / "rubrics")


def test_a_text_to_replace_must_be_there_once(tmp_path):
    scratch = ScratchPackage(tmp_path)

    with pytest.raises(AssertionError, match="has 0 times"):
        scratch.replace("__init__.py", "no such text", "")


def test_an_unexpected_exit_code_fails_with_the_output(tmp_path):
    scratch = ScratchPackage(tmp_path)

    with pytest.raises(AssertionError, match="no-such-command"):
        scratch.judgekit("no-such-command")
    assert scratch.judgekit("no-such-command", exits=2).code == 2
