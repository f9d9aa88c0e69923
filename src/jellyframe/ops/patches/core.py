"""Differences, patches and data as streams of batches, from any source.

A stream is a function that returns an iterator over its batches at each call, because most are read twice: once for the
fingerprints of their statements, and once for the wanted statements. Many fingerprints are written to disk
in buckets, so that memory does not grow with the streams. Equal statements have the same bucket, so each bucket
can be processed separately; so can parts of data that a caller has partitioned by statement.

Data is a set of statements. For each statement, the last operation of a patch counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints, bucket_records, mask_of_bits
from jellyframe.kernel.fingerprint_table_cy import FingerprintTable
from jellyframe.kernel.patch_fields import PATCH_ADD, PATCH_DELETE
from jellyframe.ops.fingerprints import random_fingerprints
from jellyframe.ops.patches.spool import (
    BUCKET_BITS,
    TABLE_RECORDS,
    RecordSpool,
    RowBits,
    chosen_rows,
    parts_of,
)

Stream: TypeAlias = Callable[[], Iterator[Batch]]

_FLIP = bytes([1, 0]) + bytes(254)


def diff_batches(old: Stream, new: Stream, fingerprints: Fingerprints | None = None) -> Iterator[Batch]:
    """Yield the changes that turn the statements of `old` into those of `new`, as rows of a patch.

    Deletes come first, in the order of the old stream, then adds in the order of the new one, without repetitions.
    `fingerprints` identify statements.
    """
    fingerprints = fingerprints or random_fingerprints()
    with RecordSpool(fingerprints) as olds, RecordSpool(fingerprints) as news:
        for spool, stream in ((olds, old), (news, new)):
            for batch in stream():
                spool.add(batch)
        with RowBits(olds.rows) as gone, RowBits(news.rows) as added:
            for bucket in range(1 << BUCKET_BITS):
                for table in _tables(olds.records(bucket) + news.records(bucket)):
                    for records in olds.chunks(bucket):
                        table.add_first(records)
                    for records in news.chunks(bucket):
                        added.count += table.compare(records, added.data)
                    gone.count += table.set_unshared(gone.data)
            olds.close()
            news.close()
            for batch in chosen_rows(old(), gone):
                yield with_operation(batch, PATCH_DELETE)
            for batch in chosen_rows(new(), added):
                yield with_operation(batch, PATCH_ADD)


def last_operations(patch: Stream, fingerprints: Fingerprints | None = None) -> Iterator[Batch]:
    """Yield the last operation on each statement of a `patch`, in order.

    The batches may have only adds and deletes, as from `CommittedRows.changes`. `fingerprints` identify statements.
    """
    with RecordSpool(fingerprints or random_fingerprints()) as spool:
        for batch in patch():
            spool.add(batch)
        with RowBits(spool.rows) as last:
            for bucket in range(1 << BUCKET_BITS):
                for table in _tables(spool.records(bucket)):
                    for records in spool.chunks(bucket):
                        table.add_last(records)
                    last.count += table.set_last(last.data)
            spool.close()
            yield from chosen_rows(patch(), last)


@dataclass
class ApplyCounts:
    """The numbers of statements of the data that were `kept` and `deleted`, and of those that were `added`."""

    kept: int = 0
    deleted: int = 0
    added: int = 0


def apply_batches(
    data: Stream, patch: Stream, fingerprints: Fingerprints | None = None, counts: ApplyCounts | None = None
) -> Iterator[Batch]:
    """Yield the statements of `data` after a `patch`: the remaining ones, in order, then the new ones.

    The batches of the patch may have only adds and deletes, as from `CommittedRows.changes`. Repeated statements of
    the data stay repeated, unless the patch deletes them. The data is read once if the patch is small. `counts` is
    complete when all batches have been read. `fingerprints` identify statements.
    """
    counts = counts or ApplyCounts()
    fingerprints = fingerprints or random_fingerprints()
    with RecordSpool(fingerprints) as changes:
        for batch in patch():
            changes.add(batch)
        with RowBits(changes.rows) as missing:
            kept = _kept_of_one_table if changes.rows <= TABLE_RECORDS else _kept_of_many_tables
            for batch, rows in kept(data, changes, missing, fingerprints):
                counts.kept += len(batch)
                counts.deleted += rows - len(batch)
                yield batch
            counts.added += missing.count
            for batch in chosen_rows(patch(), missing):
                yield batch.replace(op=None)


def _kept_of_one_table(
    data: Stream, changes: RecordSpool, missing: RowBits, fingerprints: Fingerprints
) -> Iterator[tuple[Batch, int]]:
    """Yield the remaining rows of each batch of the data, and the number of rows it had."""
    table = FingerprintTable(changes.rows)
    for records in changes.all_chunks():
        table.add_last(records)
    changes.close()
    for batch in data():
        prints = fingerprints.of_statements(batch.columns, batch.terms)
        records, _ends = bucket_records(prints, None, 0, 0)
        deleted = bytearray(len(batch) // 8 + 1)
        count = table.apply(records, deleted)
        yield batch.filter(_others(mask_of_bits(deleted, 0, len(batch)))) if count else batch, len(batch)
    missing.count += table.set_missing(missing.data)


def _kept_of_many_tables(
    data: Stream, changes: RecordSpool, missing: RowBits, fingerprints: Fingerprints
) -> Iterator[tuple[Batch, int]]:
    """Yield the same for a patch of any length."""
    with RecordSpool(fingerprints) as statements:
        for batch in data():
            statements.add(batch)
        with RowBits(statements.rows) as deleted:
            for bucket in range(1 << BUCKET_BITS):
                for table in _tables(changes.records(bucket)):
                    for records in changes.chunks(bucket):
                        table.add_last(records)
                    for records in statements.chunks(bucket):
                        deleted.count += table.apply(records, deleted.data)
                    missing.count += table.set_missing(missing.data)
            changes.close()
            statements.close()
            start = 0
            for batch in data():
                mask = deleted.mask(start, len(batch))
                start += len(batch)
                yield batch if mask is None else batch.filter(_others(mask)), len(batch)


def with_operation(batch: Batch, operation: int) -> Batch:
    """Return the statements of a batch as rows of a patch, all with one operation."""
    return batch.replace(op=memoryview(array("i", [operation]) * len(batch)), frame_ends=None, metadata={})


def _tables(records: int) -> Iterator[FingerprintTable]:
    """Yield tables for a number of records: one for each part of them."""
    parts = parts_of(records)
    for part in range(parts):
        yield FingerprintTable(_most_in_a_part(records, parts), part, parts)


def _most_in_a_part(records: int, parts: int) -> int:
    # Fingerprints are practically random: no part has an eighth more than the others.
    return records if parts == 1 else records // parts + records // parts // 8


def _others(mask: bytearray) -> bytearray:
    return mask.translate(_FLIP)
