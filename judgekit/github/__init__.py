"""Report a run to a pull request of GitHub, with what a changed rubric changes.

It imports `authoring`, `report`, `rubric` and `core`. `action.yml` runs it as a program.

Start with `__main__`.
"""
