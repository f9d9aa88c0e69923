"""Blobs that are sent between tasks."""

from __future__ import annotations

from jellyframe import DEFAULT_GRAPH, IRI, Add, Literal, Triple
from jellyframe.batch import Batch
from jellyframe.ops.blobs import Blob, BucketBlobs, OpenBlob
from jellyframe.patch import row_batches, rows_of

S, P = IRI("http://example.org/s"), IRI("http://example.org/p")


def blob(side, batch):
    opened = OpenBlob(is_patch=batch.op is not None, has_graph=True)
    opened.writer.write_batch(batch, 0, len(batch))
    return Blob(side, opened.close())


def test_a_bucket_can_be_read_again_by_side_and_from_disk(monkeypatch):
    monkeypatch.setattr("jellyframe.ops.blobs._BUCKET_BYTES_IN_MEMORY", 100)
    data = [blob(0, Batch.from_statements([Triple(S, P, Literal(str(number)))])) for number in range(20)]
    changes = [blob(1, batch) for batch in row_batches([Add(S, P, Literal("new"))], has_graph=True)]
    with BucketBlobs([*data, *changes]) as bucket:
        for _ in range(2):
            found = [str(quad.o) for batch in bucket.statements(0)() for quad in batch.statements()]
            assert found == [f'"{number}"' for number in range(20)]
            (batch,) = bucket.changes(1)()
            assert list(rows_of(batch)) == [Add(S, P, Literal("new"), DEFAULT_GRAPH)]
