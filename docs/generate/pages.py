"""Which pages are made, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.generate.api import api_page, types_page
from docs.generate.architecture import architecture_page
from docs.generate.index import llms_page
from docs.generate.metrics import metrics_page
from docs.generate.personal_data import redaction_page
from docs.generate.pictures import PICTURES
from docs.generate.rubrics import guide_page
from docs.generate.suite import suite_page

DOCS = Path(__file__).parents[1]
MADE: dict[str, Callable[[], str]] = {
    "architecture.md": architecture_page,
    "llms.txt": llms_page,
    "metrics/reference.md": metrics_page,
    "python-api.md": api_page,
    "python-types.md": types_page,
    "redaction.md": redaction_page,
    "suite.md": suite_page,
    "which-rubric.md": guide_page,
    **PICTURES,
}


def write() -> None:
    """Write every page that is made."""
    for name, page in MADE.items():
        (DOCS / name).write_text(page(), "utf-8")
