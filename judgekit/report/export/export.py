"""The export formats of a run, and parsing of `--export FORMAT=FILE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.output_file import refuse_foreign
from judgekit.core.suggest import suggest

if TYPE_CHECKING:
    from judgekit.report.report import Report

FORMATS: Mapping[str, str] = {
    "junit": "one test per case and metric, as CI servers read it",
    "markdown": "verdict, figures and the rows to look at",
    "csv": "one row per case and metric, safe in a spreadsheet",
    "parquet": "the same rows (needs the parquet extra)",
    "json": "figures and gates, as --json prints them",
}
"""Format -> its content. Each format is a module of this package, imported when needed."""
_BEGIN = {
    "junit": b"<?xml",
    "markdown": b"## ",
    "csv": b"case,metric,",
    "parquet": b"PAR1",
    "json": b'{\n "cases"',
}
"""The first bytes of each format: only such a file is replaced."""


class Export(NamedTuple):
    """A format and the path of its file."""

    format: str
    path: Path


def parse_exports(texts: Iterable[str]) -> list[Export]:
    """Parse `FORMAT=FILE` options, so that mistakes are reported before the run.

    Raises:
        ConfigError: no such format, no file, or two of one file.
        MissingExtra: what a format needs is not installed.
    """
    exports: list[Export] = []
    for text in texts:
        format, equals, file = text.partition("=")
        if not equals or not file:
            raise ConfigError(f"--export {text}: write it as FORMAT=FILE, such as junit=junit.xml")
        one = Export(format, Path(file))
        check(one)
        if one.path in [other.path for other in exports]:
            raise ConfigError(f"--export {text}: {file} is written twice")
        exports.append(one)
    return exports


def check(one: Export) -> None:
    """Raise an error if an export could not be written.

    Raises:
        ConfigError: no such format, or the file is a folder, a link, or of something else.
        MissingExtra: what the format needs is not installed.
    """
    if one.format not in FORMATS:
        raise ConfigError(f"no export named {one.format!r}{suggest(one.format, list(FORMATS))}")
    if one.path.is_dir():
        raise ConfigError("is a folder; name a file", where=str(one.path))
    begin = _BEGIN[one.format]
    refuse_foreign(one.path, lambda head: head.startswith(begin), what=f"{one.format} of a run")
    if one.format == "parquet":
        from judgekit.report.export import parquet

        parquet.check()


def export(report: Report, format: str, path: Path) -> Path:
    """Write a run in a format and return the path.

    Raises:
        ConfigError: no such format, or the file cannot be written.
        MissingExtra: what the format needs is not installed.
    """
    check(Export(format, path))
    import_module(f"judgekit.report.export.{format}").write(report, path)
    return path


def export_all(report: Report, exports: Iterable[Export]) -> list[Export]:
    """Write a run in several formats; if one fails, write the others first.

    Returns:
        What was written.

    Raises:
        ConfigError: saying which could not be written, when all others are.
    """
    faults = []
    done = []
    for one in exports:
        try:
            export(report, one.format, one.path)
        except ConfigError as exc:
            faults.append(str(exc))
        else:
            done.append(one)
    if faults:
        raise ConfigError("; ".join(faults))
    return done
