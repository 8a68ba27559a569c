"""Installed and missing packages, and other packages with the name judgekit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import judgekit
from judgekit.core.entry_points import load_offer, offers_under
from judgekit.core.errors import ConfigError
from judgekit.rubric.library import GROUP as RUBRICS
from judgekit.rubric.library import folder_of

DISTRIBUTION = "judgekit-rubrics"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(.*?)(?:;\s*(.*))?\Z", re.DOTALL)
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")


def installed() -> tuple[dict[str, str | None], dict[str, tuple[str, ...]], list[str]]:
    """Return the versions of required packages, the missing packages of extras, and problems."""
    problems = list(_namesakes())
    try:
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}, {}, [f"{DISTRIBUTION} is not installed: pip install {DISTRIBUTION}", *problems]
    packages: dict[str, str | None] = {}
    extras: dict[str, tuple[str, ...]] = {}
    for requirement in required:
        match = _REQUIREMENT.match(requirement)
        if match is None:
            continue
        name, versions, marker = match.groups()
        version = _version(name)
        extra = _EXTRA.search(marker or "")
        if extra is not None:
            lacking = extras.get(extra.group(1), ())
            extras[extra.group(1)] = lacking if version else (*lacking, name)
            continue
        packages[name] = version
        if version is None:
            problems.append(f"{name} is missing: pip install {DISTRIBUTION}")
        elif version in re.findall(r"!=\s*([\w.]+)", versions):
            problems.append(f"{name} {version} is an excluded release; install another version")
    return packages, extras, problems


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _namesakes() -> Iterator[str]:
    """Yield problems with other packages named judgekit."""
    for name in sorted(set(_installers())):
        if name.replace("_", "-").lower() != DISTRIBUTION:
            advice = f"pip uninstall {name}, then pip install --force-reinstall {DISTRIBUTION}"
            yield f"another project, {name}, installs a package named judgekit: {advice}"
    ours = Path(judgekit.__file__).resolve().parent
    for entry in sys.path:
        other = (Path(entry or ".") / "judgekit").resolve()
        if other != ours and (other / "__init__.py").is_file():
            yield f"{other} is another package named judgekit; {ours} is the one in use"


def _installers() -> Iterator[str]:
    """Yield the names of the projects that install a package named judgekit.

    Not `packages_distributions`: it creates a path for every file of every project, which takes 0.4
    s.
    """
    for project in metadata.distributions():
        names = (project.read_text("top_level.txt") or "").split()
        if not names and "judgekit" in _listed(project):
            files = (file for file in project.files or () if file.suffix == ".py")
            names = [file.parts[0].removesuffix(".py") for file in files]
        if "judgekit" in names:
            yield project.metadata["Name"]


def _listed(project: metadata.Distribution) -> str:
    texts = map(project.read_text, ("RECORD", "installed-files.txt", "SOURCES.txt"))
    return next(filter(None, texts), "")


def is_key(name: str, value: str) -> bool:
    """Return whether an environment variable contains a key."""
    return bool(value) and name.endswith("_API_KEY")


def broken_offers() -> list[str]:
    """Return a line for each entry point of judgekit whose target cannot be imported.

    This imports the targets, which belong to installed packages. Entry points of rubrics name
    folders, and are only looked up.
    """
    problems = []
    for group, offer in offers_under("judgekit."):
        what = f"{offer.name!r} of {group}"
        try:
            if group == RUBRICS:
                folder_of(offer)
            else:
                load_offer(offer, what)
        except ConfigError as exc:
            text = " ".join(str(exc).split())
            problems.append(text if offer.package in text else f"{offer.package}: {text}")
        except SystemExit as exc:
            problems.append(f"{offer.package}: {what}: {offer.value} ends the program ({exc.code})")
    return problems
