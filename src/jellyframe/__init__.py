"""Jelly for Python: RDF as columns, in and out."""
