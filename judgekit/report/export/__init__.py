"""Exports of a report, with one module per format."""
