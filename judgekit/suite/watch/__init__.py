"""Run a suite again when a file of it is saved: what changed, what moved."""
