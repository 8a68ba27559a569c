"""Add a format to the museum: record and score the projects with a version of judgekit.

    python -m tests.museum.build FORMAT [PROJECT ...] [--python PYTHON]

FORMAT names the archive, `tests/museum/FORMAT.tar.xz`: the commit that writes the format. Each
project is copied from `tests/museum/projects`, recorded from a server on this machine, and compared
with its labels. Only the command line is used, so PYTHON may run any version of judgekit; name the
projects that an older version can read. An archive that exists is never written again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TypedDict

from tests.museum.server import serving

MUSEUM = Path(__file__).parent
SOURCES = MUSEUM / "projects"
_LEFT_OUT = ("run/report.html", "run/agree.html", "store/drafts", "store/.gitignore")
"""Files that no command reads."""


class Settings(TypedDict, total=False):
    """The file project.json of a project."""

    environment: dict[str, str]
    """Variables that its commands need."""
    shards: int
    """The number of shards in which the tests run it, too."""


def settings(project: Path) -> Settings:
    """Return the settings of a project; empty if it has none."""
    file = project / "project.json"
    given: Settings = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return given


def build(source: Path, target: Path, *, python: str) -> None:
    """Copy a project, and keep what the commands write.

    Raises:
        SystemExit: a command failed for another reason than a missed gate or failed rows.
    """
    shutil.copytree(source, target)
    store = target / "store"
    environment = {**os.environ, **settings(source).get("environment", {})}
    environment |= {"JUDGEKIT_HOME": str(store), "OPENAI_API_KEY": "sk-museum"}
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}

    def judgekit(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        command = [python, "-m", "judgekit", *arguments]
        done = subprocess.run(
            command, cwd=target, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in codes:
            raise SystemExit(f"{target}: {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    record = ("--record", "new_episodes", "--out", "run")
    judgekit("run", "suite.yaml", *record, codes=(0, 1, 3))
    if (target / "labels.jsonl").exists():
        agreement = judgekit("agree", "run", "labels.jsonl", "--json")
        (target / "agree.json").write_text(agreement, "utf-8")
        if "correct" in judgekit("--help"):
            corrected = judgekit("correct", "run", "labels.jsonl", "--json")
            (target / "correct.json").write_text(corrected, "utf-8")
    for name in _LEFT_OUT:
        left_out = target / name
        shutil.rmtree(left_out) if left_out.is_dir() else left_out.unlink(missing_ok=True)


def pack(folder: Path, archive: Path) -> None:
    """Write the files of a folder to an archive; the same files give the same bytes."""
    with tarfile.open(archive, "x:xz") as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                member = tarfile.TarInfo(path.relative_to(folder).as_posix())
                member.size = path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(member, file)


def main(arguments: list[str]) -> None:
    """Build what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.museum.build")
    parser.add_argument("format")
    parser.add_argument("project", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args(arguments)
    archive = MUSEUM / f"{given.format}.tar.xz"
    if archive.exists():
        raise SystemExit(f"{archive} exists; a format is added once")
    names = given.project or sorted(path.name for path in SOURCES.iterdir())
    with tempfile.TemporaryDirectory() as folder, serving():
        for name in names:
            build(SOURCES / name, Path(folder, name), python=given.python)
            print(name)
        pack(Path(folder), archive)
    print(archive)


if __name__ == "__main__":
    main(sys.argv[1:])
