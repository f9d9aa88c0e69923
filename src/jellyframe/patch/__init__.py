"""Jelly-Patch: changes to RDF data sets as streams of operations, on the terms, lookups and frames of Jelly."""
