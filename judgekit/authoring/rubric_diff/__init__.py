"""Compare two versions of a rubric: the changes, and their effect on recorded verdicts."""
