"""Patch operations on the statements and changes of one bucket."""

from __future__ import annotations

from jellyframe import DEFAULT_GRAPH, IRI, Add, Delete, Header, Literal, NamespaceAdd, PatchRow, Triple
from jellyframe.batch import Batch
from jellyframe.ops.blobs import OTHER_ROWS, Blob, OpenBlob
from jellyframe.ops.patches.buckets import CHANGES, DATA, NEW, OLD, apply_bucket, compact_bucket, diff_bucket
from jellyframe.patch import row_batches, rows_of

S, P = IRI("http://example.org/s"), IRI("http://example.org/p")
A, B, C = (Triple(S, P, Literal(text)) for text in "abc")
EX, OTHER = (NamespaceAdd(name, IRI(f"http://example.org/{name}"), DEFAULT_GRAPH) for name in ("ex", "other"))


def blob(side: int, batch: Batch) -> Blob:
    opened = OpenBlob(is_patch=batch.op is not None, has_graph=False)
    opened.writer.write_batch(batch, 0, len(batch))
    return Blob(side, opened.close())


def data(side: int, *statements: Triple) -> Blob:
    return blob(side, Batch.from_statements(statements))


def changes(side: int, *rows: PatchRow) -> Blob:
    (batch,) = row_batches(rows, has_graph=False)
    return blob(side, batch)


def test_diff() -> None:
    old = [data(OLD, A, B), changes(OTHER_ROWS + OLD, EX)]
    new = [data(NEW, B, C), changes(OTHER_ROWS + NEW, EX, OTHER)]
    rows = [row for batch in diff_bucket(False, [*old, *new]) for row in rows_of(batch)]
    assert {str(row) for row in rows} == {str(row) for row in (OTHER, Delete(*A), Add(*C))}


def test_apply() -> None:
    blobs = [data(DATA, A, B), changes(CHANGES, Delete(*A), Add(*C)), changes(OTHER_ROWS + CHANGES, EX)]
    batches = list(apply_bucket(blobs))
    assert [statement for batch in batches for statement in batch.statements()] == [B, C]
    assert [declared.name for batch in batches for declared in batch.namespaces] == ["ex"]


def test_compact() -> None:
    headers = changes(OTHER_ROWS, Header("id", Literal("1")), Header("id", Literal("2")))
    rows = [
        row
        for batch in compact_bucket(False, [headers, changes(0, Add(*A), Add(*B)), changes(0, Delete(*A))])
        for row in rows_of(batch)
    ]
    assert {str(row) for row in rows} == {str(row) for row in (Header("id", Literal("2")), Add(*B), Delete(*A))}
