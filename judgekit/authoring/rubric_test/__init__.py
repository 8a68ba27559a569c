"""Tests of rubrics: found, replayed or recorded, compared with what is expected, told."""
