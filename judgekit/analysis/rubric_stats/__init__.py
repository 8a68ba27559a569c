"""Statistics of the criteria of rubrics in a run: `judgekit rubric stats`."""
