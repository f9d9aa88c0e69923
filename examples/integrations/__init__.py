"""Jelly in other libraries, one example each: `python -m examples.integrations.with_rdflib`."""
