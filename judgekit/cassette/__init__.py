"""Cassettes: recorded replies in front of a judge."""
