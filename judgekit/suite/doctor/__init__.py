"""Check an installation, a suite and its judges before a run."""
