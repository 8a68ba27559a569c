"""Files for a new project and for a new rubric."""
