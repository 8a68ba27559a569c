"""Render pages: of a run, of a comparison, and of `judgekit view`.

All pages use the Jinja macros, style sheets and scripts in `assets`. It imports `core`, `stats`,
`cassette`, `datasets`, `report` and `analysis`.

Start with `html`, which fills templates and sets the content security policy; then `run.page` and
`comparison.page`. `Report.to_html()` and `Comparison.to_html()` are methods of lower layers; they
find their page by name, through `judgekit.core.renderers`.
"""
