"""Files for a beginning: a project of one's own, a rubric of one's own."""
