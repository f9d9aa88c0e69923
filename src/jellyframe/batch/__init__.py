"""Batches: bounded runs of statements as integer columns over one table of terms, and their frames."""

from jellyframe.batch.batch import BATCH_BYTES, Batch, FrameSpan, NamespaceDeclaration
from jellyframe.batch.frames import Frame, frames_of

__all__ = ["BATCH_BYTES", "Batch", "Frame", "FrameSpan", "NamespaceDeclaration", "frames_of"]
