"""Tools for authors of rubrics.

Lint, tests, diffs, previews, schemas, scaffolds and generated pairs. It imports `suite`, `runner`
and the layers below.

Start with `lint.lint`, `rubric_test.run` and `scaffold.project`.
"""
