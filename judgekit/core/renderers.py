"""Renderers of higher layers, by name.

`Report.to_html()` belongs to the public API, but pages are rendered two layers above `report`.
Values look up renderers here by name, like entry points, instead of importing a higher layer.
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
    """Return a renderer; it is imported on first use.

    Raises:
        KeyError: no renderer has this name.
    """
    return resolve_name(_RENDERERS[name])
