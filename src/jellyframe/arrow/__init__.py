"""Batches as Arrow tables, and back."""
