"""What installed packages offer, however they are installed; nothing is loaded where none does."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import DistributionFinder, PathDistribution

import pytest

from judgekit.core.entry_points import offers

GROUP = "judgekit.things"
TEXT = f"[other]\na = b:c\n\n[{GROUP}]\n# not this one\nthing = acme.things:Thing\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def describe(folder, text=TEXT):
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", "utf-8")
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", "utf-8")
    (folder / "entry_points.txt").write_text(text, "utf-8")


@pytest.mark.parametrize("kind", ["acme-1.0.dist-info", "acme.egg-info", "acme-1.0.DIST-INFO"])
def test_a_package_in_a_folder_of_the_search_path_is_found(site, kind):
    describe(site / kind)

    assert [(o.name, o.value, o.package) for o in offers(GROUP)] == [
        ("thing", "acme.things:Thing", "acme")
    ]


def test_a_package_in_an_egg_is_found(site, monkeypatch):
    describe(site / "acme-1.0.egg" / "EGG-INFO")
    monkeypatch.syspath_prepend(str(site / "acme-1.0.egg"))

    assert [o.name for o in offers(GROUP)] == ["thing"]


def test_a_package_in_an_archive_is_found(site, monkeypatch):
    with zipfile.ZipFile(site / "acme.zip", "w") as archive:
        archive.writestr("acme-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme\n")
        archive.writestr("acme-1.0.dist-info/entry_points.txt", TEXT)
    monkeypatch.syspath_prepend(str(site / "acme.zip"))

    assert [o.name for o in offers(GROUP)] == ["thing"]


def test_a_package_that_only_a_finder_knows_is_found(tmp_path, monkeypatch):
    describe(tmp_path / "elsewhere" / "acme-1.0.dist-info")

    class Finder(DistributionFinder):
        def find_spec(self, name, path=None, target=None):
            return None

        def find_distributions(self, context=None):
            return [PathDistribution(tmp_path / "elsewhere" / "acme-1.0.dist-info")]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])

    assert [o.name for o in offers(GROUP)] == ["thing"]


@pytest.mark.parametrize("place", ["", "no/such/folder"])
def test_places_where_no_package_can_be_are_passed_over(site, monkeypatch, place):
    monkeypatch.syspath_prepend(place)
    describe(site / "acme-1.0.dist-info", text="[other]\na = b:c\n")

    assert offers(GROUP) == []
