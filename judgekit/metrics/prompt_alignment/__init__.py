"""Metrics of prompt alignment: by a judge, and by rules."""
