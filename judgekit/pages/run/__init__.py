"""The page of a run. Start with `page`."""
