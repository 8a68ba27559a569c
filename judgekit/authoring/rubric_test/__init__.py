"""The tests in rubrics: find them, replay or record them, and compare with the expectations."""
