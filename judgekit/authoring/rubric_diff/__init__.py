"""Two versions of a rubric: what changed, and what that does to verdicts that are recorded."""
