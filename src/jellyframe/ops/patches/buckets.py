"""Patch operations on a bucket: all statements of some subjects, and all changes of them, as blobs.

The side of a blob is the number of its input. Headers and namespaces are in the first bucket, on separate sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jellyframe.batch import Batch, NamespaceDeclaration
from jellyframe.ops.blobs import OTHER_ROWS, Blob, BucketBlobs
from jellyframe.ops.patches.compacting import last_declarations
from jellyframe.ops.patches.core import apply_batches, diff_batches, last_operations
from jellyframe.ops.patches.namespaces import NamespaceChanges, namespace_differences
from jellyframe.patch import Header, PatchRow, row_batches

# Sides of blobs.
OLD, NEW = 0, 1
DATA, CHANGES = 0, 1


def diff_bucket(has_graph: bool, blobs: Iterable[Blob]) -> Iterator[Batch]:
    """Yield the changes that turn the old statements of a bucket into the new ones."""
    with BucketBlobs(blobs) as bucket:
        rows = namespace_differences(_namespaces(bucket, OLD), _namespaces(bucket, NEW))
        yield from row_batches(rows, has_graph=has_graph)
        yield from diff_batches(bucket.statements(OLD), bucket.statements(NEW))


def apply_bucket(blobs: Iterable[Blob]) -> Iterator[Batch]:
    """Yield the statements of a bucket with its changes applied; the first bucket has the namespaces."""
    with BucketBlobs(blobs) as bucket:
        changes = NamespaceChanges.of_batches(bucket.changes(OTHER_ROWS + CHANGES)())
        namespaces = changes.applied_to(_namespaces(bucket, DATA))
        if namespaces:
            declarations = [NamespaceDeclaration(0, name, iri) for name, iri in namespaces.items()]
            yield Batch.from_statements(()).replace(namespaces=declarations)
        yield from apply_batches(bucket.statements(DATA), bucket.changes(CHANGES))


def compact_bucket(has_graph: bool, blobs: Iterable[Blob]) -> Iterator[Batch]:
    """Yield the last change of each statement in a bucket; the first bucket has headers and namespaces."""
    with BucketBlobs(blobs) as bucket:
        headers, namespaces = last_declarations(bucket.changes(OTHER_ROWS)())
        kept: list[PatchRow] = [Header(key, value) for key, value in headers.values.items()]
        yield from row_batches([*kept, *namespaces], has_graph=has_graph)
        yield from last_operations(bucket.changes(0))


def _namespaces(bucket: BucketBlobs, side: int) -> dict[str, str]:
    """Return the namespaces of a data set, which only the first bucket has."""
    return NamespaceChanges.of_batches(bucket.changes(OTHER_ROWS + side)()).applied_to({})
