"""The page of a comparison: its data, its template, its script."""
