"""Settings of pytest.ini that name nothing."""

from __future__ import annotations

import pytest

from tests.testing.conftest import ALONE


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("judgekit_record = sometimes", "judgekit_record: 'sometimes' is none of none"),
        ("judgekit_unused = maybe", "judgekit_unused: 'maybe' is none of fail"),
        ("judgekit_cassette = folder", "judgekit_cassette: 'folder' is none of module, test"),
    ],
)
def test_a_wrong_setting_stops_the_session(project, pytester, setting, message):
    (project / "pytest.ini").write_text(f"[pytest]\n{setting}\n", "utf-8")

    done = pytester.runpytest_inprocess(*ALONE)

    assert done.ret == 4
    assert message in done.stderr.str()
