"""Measurements of jellyframe against its peers, and the data sets that they, the demo and the tests use."""
