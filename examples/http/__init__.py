"""Data over HTTP."""
