"""Human labels: sampling plans, import from other tools, and checks."""
