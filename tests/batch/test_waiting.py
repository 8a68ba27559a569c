"""`limits.batch_wait`: a run waits for its jobs and goes on with the next round."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.batch.polling import PollClock
from judgekit.cli.app import app
from judgekit.core.duration import clock_text, seconds_in

from .projects import Project
from .server import Provider


@pytest.mark.loopback
def test_a_run_waits_and_goes_on_with_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = "limits: {batch_wait: 1h}\n"
    claims = "  claims: {metric: faithfulness}\n"
    with Provider() as provider:
        project = Project(tmp_path / "p", provider.base, metrics=claims, cases=2, more=waits)
        monkeypatch.setenv("JUDGEKIT_HOME", str(project.home))
        out = ["--out", str(project.folder / "run")]
        done = CliRunner().invoke(app, ["run", str(project.suite), "--batch", *out])
        assert (done.exit_code, provider.live, len(provider.jobs)) == (0, 0, 2), done.output

        # What gets no reply in any job is not sent again and again.
        broken = Project(tmp_path / "q", provider.base, cases=1, more=waits)
        monkeypatch.setenv("JUDGEKIT_HOME", str(broken.home))
        provider.spoilt = {"case-0": "errored"}
        done = CliRunner().invoke(app, ["run", str(broken.suite), "--batch", *out])
        assert (done.exit_code, provider.live, len(provider.jobs)) == (4, 0, 4), done.output


@pytest.mark.loopback
def test_ctrl_c_leaves_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    with Provider() as provider:
        waits = "limits: {batch_wait: 1h}\n"
        project = Project(tmp_path / "p", provider.base, more=waits)
        provider.done = False
        monkeypatch.setenv("JUDGEKIT_HOME", str(project.home))
        monkeypatch.setattr("judgekit.cli.batch.time.sleep", interrupted)
        out = ["--out", str(project.folder / "run")]
        done = CliRunner().invoke(app, ["run", str(project.suite), "--batch", *out])
        assert done.exit_code == 4, done.output
        assert "waiting up to 1:00:00 for 1 batch job" in done.output
        assert "stopped waiting; the jobs go on at the provider" in done.output

        provider.done = True
        assert project.run().exit_code == 0
        assert (provider.live, len(provider.jobs)) == (0, 1)


def test_a_clock_has_a_limit_and_pauses_that_grow() -> None:
    now = 100.0
    clock = PollClock(40.0, now=lambda: now)
    assert [clock.pause() for _ in range(3)] == [5.0, 10.0, 20.0]
    now += 37
    assert (clock.pause(), clock.over, clock.waited) == (3.0, False, 37.0)
    now += 3
    assert clock.over
    assert not PollClock(None, now=lambda: now).over


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("6h", 21600), ("1d", 86400)]
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "1.5h", "-1h", "1w", "1h30m", "١h", "9" * 20])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="write it as 90s, 30m, 6h or 1d"):
        seconds_in(text)


def test_a_clock_for_people() -> None:
    assert [clock_text(n) for n in (0, 61.9, 90_000)] == ["0:00:00", "0:01:01", "25:00:00"]
