"""What a person should know of this installation, a suite and its judges before a run."""
