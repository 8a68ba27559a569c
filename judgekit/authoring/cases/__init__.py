"""Tools for authors of cases: lint and sanitize."""
