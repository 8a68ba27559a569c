"""Projects of earlier formats replay offline with the values, gates and labels they had.

Each archive of this folder holds the projects as one version of judgekit wrote them: files of the
user, tape, run folder, store, and the figures of labels. They are replayed as they are. A figure
that changes on purpose is listed in `FORMAT.changes.yaml`, under the line of the changelog.
README.md describes both.
"""

from __future__ import annotations

import json
import math
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from typer.testing import CliRunner

from judgekit.cassette.tape import HEADER
from judgekit.cli.app import app
from judgekit.report.report import Report
from tests.museum.build import MUSEUM, settings

TOLERANCE = 1e-12
"""The order of additions may change: values may differ in the 16th digit."""
NAMES = ("metric", "criterion", "name", "id", "role", "model", "judge", "member", "labeller")
"""Keys that name an entry of a list."""
SETTINGS = ("version", "resamples", "seed")
"""Numbers that are no figures."""

ARCHIVES = sorted(path.name.removesuffix(".tar.xz") for path in MUSEUM.glob("*.tar.xz"))


class Project(NamedTuple):
    """A project of a format."""

    format: str
    name: str

    def __str__(self) -> str:
        return f"{self.format}-{self.name}"


def projects() -> list[Project]:
    found = []
    for archive in ARCHIVES:
        with tarfile.open(MUSEUM / f"{archive}.tar.xz") as tar:
            names = {name.partition("/")[0] for name in tar.getnames()}
        found += [Project(archive, name) for name in sorted(names)]
    return found


PROJECTS = projects()


def changes(project: Project, source: str) -> dict[str, Any]:
    """Return the figures of a project that have changed on purpose: place -> new value.

    A change has its figures under `now`, or under a source alone: `run` (the old run folder),
    `again` (a replay of the tape), `stored` (a run with the store), `merged`.
    """
    file = MUSEUM / f"{project.format}.changes.yaml"
    listed = yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}
    return {
        place: value
        for change in listed.get(project.name, ())
        for key in ("now", source)
        for place, value in change.get(key, {}).items()
    }


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all formats."""
    folder = tmp_path_factory.mktemp("museum")
    for archive in ARCHIVES:
        with tarfile.open(MUSEUM / f"{archive}.tar.xz") as tar:
            tar.extractall(folder / archive, filter="data")
    return folder


@pytest.fixture(scope="module", params=PROJECTS, ids=str)
def project(
    request: pytest.FixtureRequest, archives: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """A project that was replayed into `again`; the working folder is a copy of it."""
    one: Project = request.param
    folder = tmp_path_factory.mktemp("project") / one.name
    shutil.copytree(archives / one.format / one.name, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in settings(folder).get("environment", {}).items():
            patch.setenv(name, value)
        judgekit("run", "suite.yaml", "--out", "again")
        yield one


def judgekit(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1, 3), result.output
    return result.stdout


# -- figures ------------------------------------------------------------------------


def figures_of_run(folder: Path) -> dict[str, Any]:
    """Return the verdict of every row, criterion and gate by its place."""
    found: dict[str, Any] = {}
    for line in (folder / "results.jsonl").read_text("utf-8").splitlines()[1:]:
        row = json.loads(line)
        if "result" in row:
            result, place = row["result"], f"{row['case']} {row['metric']}"
            found[place] = verdict(result)
            for part in result.get("parts", ()):
                found[f"{place} {part['id']}"] = part.get("value")
    report = json.loads((folder / "report.json").read_text("utf-8"))
    for gate in report["gates"]:
        about = json.dumps({k: v for k, v in gate["gate"].items() if v}, sort_keys=True)
        found[f"gate {about}"] = gate["passed"]
        found[f"gate {about} figure"] = gate["found"]
    found["incomplete"] = bool(report["incomplete"])
    return found


def verdict(result: dict[str, Any]) -> Any:
    """Return the value of a result, the status of a score without one, or the kind of failure."""
    if result["type"] == "failure":
        return result["kind"]
    status = result.get("status", "scored")
    return result["value"] if status == "scored" else status


def numbers(data: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a JSON document by their place; texts may change."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in SETTINGS:
                yield from numbers(value, f"{place}.{key}")
    elif isinstance(data, list):
        for number, value in enumerate(data):
            fields = value if isinstance(value, dict) else {}
            named = [fields[name] for name in NAMES if isinstance(fields.get(name), str)]
            yield from numbers(value, f"{place}[{' '.join(named) if named else number}]")
    elif data is None or isinstance(data, (bool, int, float)):
        yield place, data


def check(
    project: Project, source: str, old: dict[str, Any], new: dict[str, Any], *, more: bool
) -> None:
    """Compare figures; with `more`, there may be new ones."""
    listed = changes(project, source)
    expected = old | {place: value for place, value in listed.items() if place in old}
    names = expected if more else expected.keys() | new.keys()
    different = {
        place: new.get(place, "absent")
        for place in names
        if differ(expected.get(place, "absent"), new.get(place, "absent"))
    }
    shown = yaml.safe_dump({project.name: [{"changelog": "...", source: different}]}, width=1000)
    assert not different, f"{project}: if they change on purpose, list them:\n{shown}"


def differ(old: Any, new: Any) -> bool:
    if type(old) in (int, float) and type(new) in (int, float):
        return not math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(old) is not type(new) or bool(old != new)


# -- tests --------------------------------------------------------------------------


def test_the_tape_replays_with_the_same_values_and_gates(project: Project) -> None:
    check(project, "again", figures_of_run(Path("run")), figures_of_run(Path("again")), more=False)
    assert judgekit("compare", "--allow-same", "run", "again")
    run = Report.read(Path("again")).run
    assert set(run.get("origins", ())) <= {"tape"}
    assert run.get("unused", 0) == 0


def test_labels_give_the_same_figures(project: Project) -> None:
    if not Path("labels.jsonl").exists():
        pytest.skip("a project without labels")
    for verb in ("agree", "correct"):
        if not Path(f"{verb}.json").exists():
            continue  # an older version
        old = dict(numbers(json.loads(Path(f"{verb}.json").read_text("utf-8")), verb))
        # Rows that changed on purpose change what labels say about them.
        for folder in ("run",) if changes(project, "again") else ("run", "again"):
            new = json.loads(judgekit(verb, folder, "labels.jsonl", "--json"))
            check(project, folder, old, dict(numbers(new, verb)), more=True)


def test_the_store_replays_with_the_same_values(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("tape.jsonl").exists():
        pytest.skip("a project without a judge")
    monkeypatch.setenv("JUDGEKIT_HOME", str(Path("store").resolve()))
    shutil.copytree(Path(), tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    # Without its header, the project would be a new one, which gets the newest rubrics.
    Path("tape.jsonl").write_text(f"{HEADER}\n", "utf-8")
    judgekit("run", "suite.yaml", "--record", "new_episodes", "--out", "stored")

    check(
        project, "stored", figures_of_run(Path("run")), figures_of_run(Path("stored")), more=False
    )
    origins = set(Report.read(Path("stored")).run["origins"])
    assert origins == {"store"} or changes(project, "stored")


def test_the_run_folder_and_the_tape_open(project: Project) -> None:
    old = Report.read(Path("run"))

    rows = {
        f"{case.id} {row.metric}": row.result.type for case, rows in old.results for row in rows
    }
    places = figures_of_run(Path("run"))
    assert rows.keys() <= places.keys()
    assert judgekit("report", "run")
    if Path("tape.jsonl").exists():
        lines = Path("tape.jsonl").read_text("utf-8").splitlines()
        records = sum(line.startswith('{"key":') for line in lines)
        assert f"{records} records" in judgekit("cassette", "verify", "tape.jsonl")


def test_shards_give_the_same_values(project: Project) -> None:
    count = settings(Path()).get("shards", 0)
    if not count:
        pytest.skip("a project without shards")
    parts = [f"part{n}" for n in range(1, count + 1)]
    for number, part in enumerate(parts, start=1):
        judgekit("run", "suite.yaml", "--shard", f"{number}/{count}", "--out", part)
    judgekit("merge", "suite.yaml", *parts, "--out", "merged")

    check(
        project, "merged", figures_of_run(Path("run")), figures_of_run(Path("merged")), more=False
    )


def test_every_format_has_projects() -> None:
    assert {"4ce9328", "b0d53f2"} <= set(ARCHIVES)
    sources = {path.name for path in (MUSEUM / "projects").iterdir()}
    assert {one.name for one in PROJECTS if one.format == "4ce9328"} <= sources


@pytest.mark.parametrize("file", sorted(MUSEUM.glob("*.changes.yaml")), ids=lambda path: path.name)
def test_every_change_names_a_line_of_the_changelog_and_a_project(file: Path) -> None:
    names = {one.name for one in PROJECTS if one.format == file.name.partition(".")[0]}
    listed = yaml.safe_load(file.read_text("utf-8"))

    assert listed.keys() <= names
    assert all(change["changelog"] and len(change) > 1 for one in listed.values() for change in one)
