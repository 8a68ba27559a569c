from __future__ import annotations

import pytest

from judgekit.rubric.load import load_rubric

BODY = """\
{% role system %}
{% for criterion in criteria %}{{ criterion.id }}: {{ criterion.text }}
{% endfor %}
{% endrole %}
{% role user %}{{ case.output | fence("answer") }}{% endrole %}
"""


@pytest.fixture
def rubric_file(tmp_path):
    """Write a rubric from front matter and body; return its path."""

    def write(front, body=BODY, name="mine"):
        lines = "" if front is None else f"---\n{front.strip(chr(10))}\n---\n"
        path = tmp_path / f"{name}.jinja"
        path.write_text(lines + body, encoding="utf-8")
        return path

    return write


@pytest.fixture
def rubric(rubric_file):
    """Write a rubric and load it."""

    def load(front, body=BODY, name="mine"):
        return load_rubric(rubric_file(front, body, name))

    return load
