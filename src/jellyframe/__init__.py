"""Jelly RDF for Python."""
