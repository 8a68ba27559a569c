"""Two runs held against each other, case by case."""
