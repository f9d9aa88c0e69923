"""Differences, patches that are applied and patches that are made smaller, against sets of statements."""

from __future__ import annotations

from types import ModuleType
from unittest import mock

import pytest
from hypothesis import given

from jellyframe.patch import Add, Delete
from support.patch_models import DATA, PATCHES, UNFINISHED_PATCHES, Twin, applied


def lines(statements):
    return {str(statement) for statement in statements}


@given(old=DATA, new=DATA)
def test_a_difference_has_each_change_once(twin: ModuleType, old, new):
    sides = Twin(twin)
    rows = [str(row) for row in sides.rows(sides.core.diff_batches(sides.data(old), sides.data(new)))]
    gone, added = set(old) - set(new), set(new) - set(old)
    assert sorted(rows) == sorted([str(Delete(*quad)) for quad in gone] + [str(Add(*quad)) for quad in added])
    # Deletes before adds, each in the order of its data.
    places = {str(Delete(*quad)): place for place, quad in reversed(list(enumerate(old)))}
    places |= {str(Add(*quad)): len(old) + place for place, quad in reversed(list(enumerate(new)))}
    assert [places[row] for row in rows] == sorted(places[row] for row in rows)


@given(old=DATA, new=DATA)
def test_applying_a_difference_gives_the_new_data(twin: ModuleType, old, new):
    sides = Twin(twin)

    def patch():
        return sides.core.diff_batches(sides.data(old), sides.data(new))

    result = [quad for batch in sides.core.apply_batches(sides.data(old), patch) for quad in batch.statements()]
    assert lines(result) == lines(new)


@given(old=DATA, rows=UNFINISHED_PATCHES)
def test_the_last_operation_on_each_statement_counts(twin: ModuleType, old, rows):
    sides = Twin(twin)
    with sides.committed.CommittedRows(sides.patch(rows)) as committed:
        batches = list(sides.core.apply_batches(sides.data(old), committed.changes))
    result = [str(quad) for batch in batches for quad in batch.statements()]
    expected = lines(applied(old, rows))
    assert set(result) == expected
    # What is left of the data comes first, in its order, repetitions included.
    kept = [str(quad) for quad in old if str(quad) in expected]
    assert result[: len(kept)] == kept
    assert len(result) == len(kept) + len(expected - set(kept))


@given(old=DATA, rows=PATCHES)
def test_compacted_operations_have_the_same_effect(twin: ModuleType, old, rows):
    sides = Twin(twin)
    with sides.committed.CommittedRows(sides.patch(rows)) as committed:
        smaller = sides.rows(sides.core.last_operations(committed.changes))
    statements = [str(row)[2:] for row in smaller]
    assert len(set(statements)) == len(statements)
    state = lines(old)
    for row in smaller:
        (state.add if str(row).startswith("A") else state.discard)(str(row.statement))
    assert state == lines(applied(old, rows))


@given(old=DATA, new=DATA, rows=PATCHES)
def test_results_are_the_same_when_spilled_to_disk(old, new, rows):
    """With tables of two records and buffers of two, all goes through files and in many parts."""
    import jellyframe
    from jellyframe.ops.patches import core, spool

    sides = Twin(jellyframe)
    with (
        mock.patch.object(spool, "TABLE_RECORDS", 2),
        mock.patch.object(core, "TABLE_RECORDS", 2),
        mock.patch.object(spool, "_BUFFER_BYTES", 48),
        mock.patch.object(spool, "_BITS_IN_MEMORY", 0),
        # A part is then not of about the same size as the others.
        mock.patch.object(core, "_most_in_a_part", lambda records, _parts: records),
    ):
        changed = sides.rows(core.diff_batches(sides.data(old), sides.data(new)))
        with sides.committed.CommittedRows(sides.patch(rows)) as committed:
            result = [
                quad for batch in core.apply_batches(sides.data(old), committed.changes) for quad in batch.statements()
            ]
    assert applied(old, changed) == set(new)
    assert set(result) == applied(old, rows)


def test_errors_of_the_input_are_raised():
    import jellyframe

    sides = Twin(jellyframe)

    def broken():
        yield from sides.data([])()
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(sides.core.diff_batches(broken, broken))
