"""Replies of jobs are taken in runs whose other requests go through litellm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.batch.projects import Project
from tests.batch.server import Provider

pytestmark = pytest.mark.loopback


def test_replies_are_taken_where_litellm_sends_the_rest(tmp_path: Path) -> None:
    with Provider() as provider:
        project = Project(tmp_path / "p", provider.base)
        project.send()
        text = project.suite.read_text("utf-8")
        project.suite.write_text(text.replace("openai/fake, ", "openai/fake, via: litellm, "))

        assert project.run().exit_code == 0
        assert provider.live == 0
