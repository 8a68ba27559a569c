"""Human labels: which cases to label, labels of other tools, and mistakes in labels."""
