"""Merging shards in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.cli.exporting import Outputs
from judgekit.cli.interrupt import on_interrupt
from judgekit.cli.running import KEPT, print_report
from judgekit.core.synchronous import Flag
from judgekit.suite.merge import merge_shards
from judgekit.suite.suite import load_suite


def merge_and_print(
    suite: Path,
    folders: Sequence[Path],
    *,
    out: Path,
    baseline: Path | None,
    as_json: bool,
    quiet: bool,
    outputs: Outputs = Outputs(),  # noqa: B008 - an immutable value
) -> int:
    """Merge shards, print what came of it, return the exit code."""
    stop = Flag()
    with on_interrupt(stop.set, said=KEPT):
        report = merge_shards(
            suite,
            folders,
            out=out,
            baseline=str(baseline) if baseline is not None else None,
            stop=stop,
            page=True,
        )
    with outputs.plain(as_json=as_json):
        print_report(report, out=out, as_json=as_json)

    def places(ids: set[str]) -> dict[str, tuple[str, int | None]]:
        return load_suite(suite).data.places(ids)

    outputs.write(report, find=places, as_json=as_json)
    return report.exit_code
