"""Batches: bounded runs of statements as integer columns over one table of terms, and their frames."""

from jellyframe.batch.batch import Batch, FrameSpan, NamespaceDeclaration
from jellyframe.batch.frames import Frame, frames_of

__all__ = ["Batch", "Frame", "FrameSpan", "NamespaceDeclaration", "frames_of"]
