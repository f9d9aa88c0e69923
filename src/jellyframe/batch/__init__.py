"""Batches: bounded runs of statements as integer columns over one table of terms, and their frames."""

from jellyframe.batch.batch import Batch, FrameSpan, NamespaceDeclaration

__all__ = ["Batch", "FrameSpan", "NamespaceDeclaration"]
