"""Writing a run for other programs: what flags ask for, and what is printed about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgekit.core.canonical import printable

if TYPE_CHECKING:
    from judgekit.report.export.export import Wanted
    from judgekit.report.report import Report


class Outputs(NamedTuple):
    """What a run is written as, beside its folder."""

    exports: tuple[Wanted, ...] = ()
    github: bool = False

    @contextmanager
    def plain(self, *, as_json: bool) -> Iterator[None]:
        """Keep GitHub from taking commands from what is printed within; JSON stays JSON."""
        if not self.github or as_json:
            yield
            return
        from judgekit.report.export.github import Quiet

        with Quiet(_say_out):
            yield

    def write(
        self,
        report: Report,
        *,
        find: Callable[[set[str]], Mapping[str, tuple[str, int | None]]],
        as_json: bool = False,
    ) -> None:
        """Write everything that is wanted; what fails does not keep the rest from being written.

        Raises:
            ConfigError: something could not be written.
        """
        try:
            if self.github:
                from judgekit.report.export.github import write_github

                write_github(report, find=find, say=_say_error if as_json else _say_out)
        finally:
            if self.exports:
                from judgekit.report.export.export import export_all

                for one in export_all(report, self.exports):
                    if not as_json:
                        print(f"{one.format}: {printable(str(one.path))}")


def _say_out(line: str) -> None:
    sys.stderr.flush()
    print(line, flush=True)


def _say_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def output_of(exports: list[str] | None, *, github: bool) -> Outputs:
    """Return what flags ask for.

    Raises:
        ConfigError: no such format, no file, or `--github` elsewhere.
        MissingExtra: what a format needs is not installed.
    """
    if github:
        from judgekit.report.export.github import summary_path

        summary_path()
    if not exports:
        return Outputs(github=github)
    from judgekit.report.export.export import wanted

    return Outputs(exports=tuple(wanted(exports)), github=github)


def report_and_print(folder: Path, *, page: Path | None, outputs: Outputs) -> None:
    """Print the summary of a run folder and write what is wanted; its page where nothing is.

    Raises:
        ConfigError: not a run folder, or something cannot be written.
    """
    from judgekit.cli.running import print_summary
    from judgekit.report.report import Report

    found = Report.read(folder)
    wanted = page is not None or not (outputs.exports or outputs.github)
    written = found.to_html(page) if wanted else None
    with outputs.plain(as_json=False):
        print_summary(found)
        if written is not None:
            print(f"page: {printable(str(written))}")
    outputs.write(found, find=lambda _: {})
