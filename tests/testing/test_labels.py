"""A suite with labels that runs inside a test: the plug-in changes nothing that is said."""

from __future__ import annotations

from tests.suite.test_label_warnings import SAID, write_suite
from tests.testing.conftest import ALONE

TEST = """
def test_run(judgekit):
    from judgekit import Overrides, load_suite, run_suite_sync
    from judgekit.report.display import summary_text

    report = run_suite_sync(load_suite("suite.yaml", Overrides(record="new_episodes")))
    text = " ".join(summary_text(report).split())
    assert report.exit_code == 1
    for words in SAID:
        assert words in text
"""


def test_label_warnings_are_said_in_a_test(pytester, project):
    write_suite(project)
    (project / "test_tone.py").write_text(f"SAID = {list(SAID.values())!r}\n{TEST}", "utf-8")

    done = pytester.runpytest_inprocess(*ALONE)

    assert int(done.ret) == 0, done.stdout.str()
