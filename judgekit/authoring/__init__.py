"""Tools for authors of rubrics and cases.

This package has lint, rubric tests, diffs, previews, schemas and scaffolds. It imports `suite`,
`runner` and the layers below.

Start with `lint.lint`, `rubric_test.run`, `scaffold.project` and `cases.lint`.
"""
