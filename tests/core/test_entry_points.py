"""What installed packages offer, however they are installed; nothing is loaded where none does."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import DistributionFinder, PathDistribution

import pytest

from judgekit.core.entry_points import Offer, load_offer, offers, only_offer
from judgekit.core.errors import ConfigError

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


@pytest.mark.parametrize("target", ["acme", "acme.things", "acme.things:Thing"])
def test_a_target_that_is_gone_is_not_installed(target):
    message = f"judgekit thing is not installed: acme-tools names {target}, .*; install acme-tools"

    with pytest.raises(ConfigError, match=message):
        load_offer(Offer("thing", target, "acme-tools"), "judgekit thing")


@pytest.mark.parametrize(
    ("code", "cause"),
    [("import acme_other", "No module named 'acme_other'"), ("raise ValueError", "ValueError")],
)
def test_a_target_that_cannot_be_imported_gives_the_cause(site, code, cause):
    (site / "acme_things.py").write_text(code, "utf-8")

    with pytest.raises(ConfigError, match=f"thing cannot be loaded from acme_things: {cause}"):
        load_offer(Offer("thing", "acme_things", "acme"), "thing")


def test_one_package_must_offer_a_name(site):
    with pytest.raises(ConfigError, match=rf"--thing is not installed: .* {GROUP}"):
        only_offer(GROUP, "thing", "--thing")

    describe(site / "acme-1.0.dist-info")
    assert only_offer(GROUP, "thing", "--thing").value == "acme.things:Thing"

    describe(site / "other-1.0.dist-info", TEXT.replace("acme.things", "other"))
    (site / "other-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: other\n")
    with pytest.raises(ConfigError, match="--thing is offered by several packages: "):
        only_offer(GROUP, "thing", "--thing")
