"""Agreement of a judge with human labels."""
