"""The page of a comparison. Start with `page`."""
