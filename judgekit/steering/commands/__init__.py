"""The verbs `pairs` and `steer`."""
