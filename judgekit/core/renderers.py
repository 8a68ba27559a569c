"""Renderers of higher layers, by name.

`Report.to_html()` is a method of the public API, and a page is drawn two layers above the report.
A value asks for a renderer here instead of importing it, as it would ask for an entry point.
"""

from pkgutil import resolve_name
from typing import Any

_RENDERERS = {
    "run page": "judgekit.pages.run.page:write_page",
    "comparison page": "judgekit.pages.comparison.page:write_comparison",
    "agreement page": "judgekit.pages.analysis:write_agreement",
    "ranking page": "judgekit.pages.analysis:write_ranking",
}


def renderer(name: str) -> Any:
    """Return a renderer, which is imported when it is first needed.

    Raises:
        KeyError: no renderer has this name.
    """
    return resolve_name(_RENDERERS[name])
