"""What tests in pytest use: scores and checks on recorded verdicts."""
