"""Each test changes one thing in a copy of the package, and checks all places that must agree."""
