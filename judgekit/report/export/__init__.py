"""Exports of a report: one module for each format."""
