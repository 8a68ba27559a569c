"""Run a suite again when one of its files is saved, and show the changes."""
