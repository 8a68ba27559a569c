"""The state of a pytest session: cassettes, kits and summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette, store_opener
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.tape import Tape, remove_records
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge, Metric
from judgekit.core.yaml_file import Lines
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.limits import LimitedJudge
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import beside_jobs, make_judge
from judgekit.testing.kit import Kit

CASSETTES = "cassettes"
"""Folder next to a test module for its cassette."""


class Session:
    """The shared state of all tests of a session.

    Args:
        config: the config of pytest; only options and settings are read.
    """

    def __init__(self, config: Any) -> None:
        self._root: Path = config.rootpath
        self._per = config.getini("judgekit_cassette")
        record = config.getoption("judgekit_record") or config.getini("judgekit_record")
        judge = config.getoption("judgekit_judge")
        if judge is not None and config.getoption("judgekit_record") is None:
            # Naming a judge on the command line allows calls to it, as in other commands.
            record = "new_episodes"
        self.tapes = Tapes(
            record=RecordMode.parse(record),
            judge=judge or config.getini("judgekit_judge") or None,
            api_base=config.getoption("judgekit_api_base"),
        )
        self.unused_word = config.getoption("judgekit_unused") or config.getini("judgekit_unused")
        self.unused: dict[str, int] = {}
        """Cassette -> records that no test used."""
        self.soft: list[tuple[str, str]] = []
        """Ids of tests and the messages of their soft checks."""
        self._modules: dict[str, set[str]] = {}
        """Cassette -> the modules that use it."""
        self._made: dict[Path, dict[str, Metric]] = {}
        self._origins: Counter[str] = Counter()
        self._spent = 0.0
        self._unpriced = 0
        self._used: dict[str, set[str]] = {}
        """Cassette -> keys that were replayed or recorded."""
        self._left_out: set[str] = set()

    def kit(self, item: Any) -> Kit:
        """Return the kit of a test.

        Raises:
            ConfigError: its marker is wrong, or the judge is ambiguous.
            CassetteCorrupt: its cassette is damaged.
        """
        path = self._cassette_of(item)
        self._modules.setdefault(str(path), set()).add(str(item.path))
        model = self.tapes.judge or "MODEL"
        return Kit(
            self.tapes.open(path),
            folder=item.path.parent,
            test=item.name,
            made=self._made.setdefault(path, {}),
            record=f"pytest {item.nodeid} --judgekit-record new_episodes --judgekit-judge {model}",
        )

    def _cassette_of(self, item: Any) -> Path:
        mark = item.get_closest_marker("judgekit")
        module: Path = item.path
        folder = module.parent
        if mark is not None:
            unknown = set(mark.kwargs) - {"cassette"}
            if unknown or len(mark.args) > 1:
                wrong = sorted(unknown)[0] if unknown else "a second argument"
                raise ConfigError(f"the marker judgekit takes cassette=FILE, not {wrong}")
            named = mark.kwargs.get("cassette", mark.args[0] if mark.args else None)
            if named is not None:
                return folder / str(named)
        if self._per == "test":
            name = re.sub(r"[^\w.-]+", "_", item.name)
            return folder / CASSETTES / module.stem / f"{name}.jsonl"
        return folder / CASSETTES / f"{module.stem}.jsonl"

    def finish(self, *, left_out: set[str]) -> None:
        """Write the cassettes and note the used records.

        Args:
            left_out: test files in which a test was not run or did not pass.
        """
        self._left_out |= left_out
        for path, cassette in self.tapes.opened.items():
            self._used.setdefault(str(path), set()).update(_used_keys(cassette))
            self._origins.update(cassette.ledger.origins)
            self._spent += cassette.ledger.spent
            self._unpriced += cassette.ledger.unpriced
        self.tapes.close()

    def hand_over(self) -> dict[str, Any]:
        """Return the results of a worker as plain data."""
        return {
            "used": {name: sorted(keys) for name, keys in self._used.items()},
            "modules": {name: sorted(files) for name, files in self._modules.items()},
            "left_out": sorted(self._left_out),
            "origins": dict(self._origins),
            "spent": self._spent,
            "unpriced": self._unpriced,
            "soft": [list(entry) for entry in self.soft],
        }

    def take_over(self, handed: Mapping[str, Any]) -> None:
        """Add the results of a worker."""
        for names, name in ((self._used, "used"), (self._modules, "modules")):
            for path, more in handed[name].items():
                names.setdefault(path, set()).update(more)
        self._left_out |= set(handed["left_out"])
        self._origins.update(handed["origins"])
        self._spent += handed["spent"]
        self._unpriced += handed["unpriced"]
        self.soft += [(test, message) for test, message in handed["soft"]]

    def find_unused(self) -> None:
        """Find unused records, for cassettes whose modules ran completely and passed."""
        if self.unused_word == "ignore":
            return
        for name, used in self._used.items():
            path = Path(name)
            if self._modules.get(name, set()) & self._left_out or not path.exists():
                continue
            with closing(Tape(path)) as tape:
                left = [key for line in tape.lines() if (key := line[8:72]) not in used]
            if left:
                self.unused[name] = len(left)
                if self.unused_word == "remove":
                    remove_records(path, set(left))

    def _shown(self, path: str) -> str:
        """Return a path relative to the project, if it is inside."""
        place = Path(path)
        return str(place.relative_to(self._root)) if place.is_relative_to(self._root) else path

    def summary(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the sections of the summary: a title and lines."""
        if self.soft:
            lines = [f"{test}\n{message}" for test, message in self.soft]
            yield f"judgekit: {len(self.soft)} soft checks do not hold", lines
        if live := self._origins["live"]:
            cost = "an unknown amount" if self._unpriced else f"${self._spent:.2f}"
            replies = "1 reply" if live == 1 else f"{live} replies"
            yield "judgekit", [f"{replies} asked and recorded; spent {cost}"]
        if self.unused:
            verb = "removed" if self.unused_word == "remove" else "not used"
            lines = [
                f"{self._shown(path)}: {count} recorded repl{'y' if count == 1 else 'ies'} {verb}"
                for path, count in sorted(self.unused.items())
            ]
            if self.unused_word != "remove":
                lines.append("--judgekit-unused remove takes them off, warn lets them pass")
            yield f"judgekit: unused recordings ({self.unused_word})", lines


UNKNOWN = "unknown"
"""Model name of the judge if none is named or recorded."""


class Tapes:
    """The cassettes of a session, by file.

    Args:
        record: the record mode of all cassettes.
        judge: model to replay or call; by default, the one on the cassette.
        api_base: address of the judge's server.
    """

    def __init__(self, *, record: RecordMode, judge: str | None, api_base: str | None) -> None:
        self.judge, self._record, self._api_base = judge, record, api_base
        self.opened: dict[Path, Cassette] = {}

    def open(self, path: Path) -> Cassette:
        """Return the cassette of a file; open it on first use.

        Raises:
            ConfigError: the judge is ambiguous.
            CassetteCorrupt: the file is damaged.
        """
        if path not in self.opened:
            asking = self._record is not RecordMode.NONE
            judge = self._live_judge(path) if asking else LimitedJudge(self._replayed(path))
            self.opened[path] = Cassette(
                judge,
                tape=path,
                store=store_opener(path.parent) if asking else None,
                record=self._record,
            )
        return self.opened[path]

    def _known(self, path: Path) -> list[AbsentJudge]:
        return [judge for judge in judges_on(path) if self.judge in (None, judge.model)]

    def _replayed(self, path: Path) -> Judge:
        known = self._known(path)
        if len(known) > 1:
            names = ", ".join(judge.words() for judge in known)
            message = f"recorded by {names}; say whose: --judgekit-judge MODEL"
            raise ConfigError(message, where=str(path))
        return known[0] if known else AbsentJudge(self.judge or UNKNOWN)

    def _live_judge(self, path: Path) -> LimitedJudge:
        name, known = self.judge, self._known(path)
        if name is None and len(known) != 1:
            raise ConfigError("recording asks a judge: say which, --judgekit-judge MODEL")
        file = JudgeFile.model_validate(known[0].described() if known else {"model": name})
        if self._api_base is not None:
            file = file.model_copy(update={"api_base": self._api_base})
        judge = make_judge(file, base=path.parent, lines=Lines(file=""), asking=True)
        return beside_jobs(judge, file, near=path.parent, record=self._record)

    def close(self) -> None:
        """Write the recorded replies and close all cassettes."""
        for cassette in self.opened.values():
            cassette.close()
        self.opened.clear()


def _used_keys(cassette: Cassette) -> set[str]:
    """Return the keys that were replayed or recorded."""
    keys = set(cassette.not_from_tape)
    if (tape := cassette.tape) is not None:
        keys |= {tape.line(n)[8:72] for n in range(len(tape)) if cassette.used(n)}
    return keys
