"""Lint for rubrics and personas: find mistakes before judges are called."""
