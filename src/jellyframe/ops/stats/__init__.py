"""Statistics of a set of statements."""
