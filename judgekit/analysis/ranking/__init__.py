"""A ranking of models by pairwise comparisons. Start with `rank`."""
