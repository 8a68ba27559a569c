"""pytest-xdist: several workers, one cassette."""

from __future__ import annotations

import subprocess
import sys

from tests.testing.conftest import ALONE, RECORD, TESTS, records, tape


def test_workers_share_a_cassette_and_miss_no_unused_record(project):
    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *ALONE, "-n", "2", *words],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    more = TESTS.partition("def test_rude")[0].replace("test_kind", "test_more")
    more = more.replace("Hello there", "Good morning")
    (project / "test_tone.py").write_text(TESTS + more, "utf-8")
    code, out = run(*RECORD)
    assert code == 0, out
    assert len(records(tape(project))) == 3

    # Two replies are used, each by one of the workers, and the third by neither.
    (project / "test_tone.py").write_text(TESTS, "utf-8")
    code, out = run()
    assert code == 1
    assert "2 passed" in out
    assert "1 recorded reply not used" in out
