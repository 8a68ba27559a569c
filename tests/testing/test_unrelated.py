"""A project that has nothing to do with judgekit."""

from __future__ import annotations

import subprocess
import sys

from tests.testing.conftest import ALONE


def test_an_unrelated_project_loads_nothing_of_judgekit(tmp_path):
    (tmp_path / "test_x.py").write_text(
        "import sys\ndef test_x():\n"
        "    loaded = [n for n in sys.modules if n.split('.')[0] == 'judgekit']\n"
        "    assert set(loaded) <= {'judgekit', 'judgekit.pytest_plugin'}, loaded\n"
        "    assert not {'pydantic', 'jinja2', 'yaml', 'litellm'} & set(sys.modules)\n",
        "utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *ALONE, str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
