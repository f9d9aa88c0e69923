"""Damage in patch streams: losses are reported, and a transaction that is partly lost has no effect."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import jellyframe
from jellyframe import (
    IRI,
    Add,
    Header,
    JellyError,
    Literal,
    PatchOptions,
    PatchStreamType,
    Punctuation,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.stream.recovery import Damage
from support.patch_streams import COMMIT, ENTRIES, FLAT, MARK, SPOG, START, add, delete, delimited, frame, name, options
from support.patch_streams import prefix as prefix_entry

TRANSACTIONS = 120
ROWS = 7


# The first rows of a frame that begins as a restart point of our writers.
RESTART = (
    options(stream_type=FLAT),
    prefix_entry("http://example.org/", 1),
    name("s", 1),
    name("p"),
    name("o"),
    name("g"),
)


def statement(number: int, row: int) -> tuple[Any, ...]:
    return (
        IRI(f"http://example.org/{number}"),
        IRI("http://example.org/p"),
        Literal(f"value {number} {row} " + "x" * 20),
    )


def patch_rows(number: int, *, in_transaction: bool) -> list[Any]:
    """One patch: a header, and a transaction of rows that all name it."""
    rows = [Add(*statement(number, row)) for row in range(ROWS)]
    header = Header("id", Literal(str(number)))
    return [header, TransactionStart(), *rows, TransactionCommit()] if in_transaction else [header, *rows]


def written(
    stream_type: PatchStreamType, *, in_transaction: bool = True, restart_every: int = 1500, frame_rows: int = 5
) -> bytes:
    file = io.BytesIO()
    with jellyframe.open_patch_writer(
        file, PatchOptions(stream_type=stream_type), restart_every=restart_every, frame_rows=frame_rows
    ) as writer:
        for number in range(TRANSACTIONS):
            writer.write(patch_rows(number, in_transaction=in_transaction))
            if stream_type is not PatchStreamType.FLAT:
                writer.end_patch()
    return file.getvalue()


def recover(source: Any, package: ModuleType = jellyframe, **arguments: Any) -> tuple[list[Any], list[Damage]]:
    lost: list[Damage] = []
    with package.open_patch_reader(source, on_damage=lost.append, **arguments) as reader:
        return [(part.is_explicit, list(part), part.is_committed) for part in reader.transactions()], lost


def committed(parts: Iterable[tuple[bool, list[Any], bool]]) -> list[Add]:
    """The statements that count: those in no transaction, and in transactions that are committed."""
    return [row for _explicit, rows, counts in parts if counts for row in rows if type(row) is Add]


def assert_in_turns(rows: Iterable[Any]) -> None:
    """Assert that a strict writer takes the rows, which checks that transactions start and end in turns."""
    with jellyframe.open_patch_writer(io.BytesIO(), PatchOptions(stream_type=PatchStreamType.PUNCTUATED)) as writer:
        writer.write(rows)


@pytest.mark.parametrize("stream_type", [PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED])
def test_an_undamaged_stream_is_read_unchanged(twin: ModuleType, stream_type: PatchStreamType) -> None:
    data = written(stream_type)
    for batch_rows in (1, 9, 16_384):
        lost: list[Damage] = []
        with twin.open_patch_reader(data, on_damage=lost.append, batch_rows=batch_rows) as reader:
            rows = [str(row) for row in reader.rows()]
        with twin.open_patch_reader(data) as reader:
            assert rows == [str(row) for row in reader.rows()]
            assert not lost
        with twin.open_patch_reader(data, on_damage=lost.append, batch_rows=batch_rows) as reader:
            patches = [len(list(patch)) for patch in reader.patches()]
        assert patches == (
            [(ROWS + 3) * TRANSACTIONS] if stream_type is PatchStreamType.FLAT else [ROWS + 3] * TRANSACTIONS
        )


@pytest.mark.parametrize("stream_type", [PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED])
@pytest.mark.parametrize("kind", ["missing", "extra", "overwritten"])
def test_transactions_are_whole_or_do_not_count(stream_type: PatchStreamType, kind: str) -> None:
    good = written(stream_type)
    places = random.Random(f"{stream_type} {kind}")
    for _ in range(40):
        size = places.choice([1, 3, 40, 900] if kind != "overwritten" else [60, 900])
        at = places.randrange(1, len(good) - size)
        new = b"" if kind == "missing" else places.randbytes(size)
        damaged = good[:at] + new + good[at if kind == "extra" else at + size :]
        batch_rows = places.choice([1, 7, 16_384])
        parts, lost = recover(damaged, batch_rows=batch_rows)
        numbers = [str(row.s).rsplit("/", 1)[1] for row in committed(parts)]
        whole = [number for number in dict.fromkeys(numbers) for _row in range(ROWS)]
        assert numbers == whole, (at, size)
        if lost:
            assert len(numbers) > TRANSACTIONS * ROWS // 2
        with jellyframe.open_patch_reader(damaged, on_damage=lost.append, batch_rows=batch_rows) as reader:
            assert_in_turns(reader.rows())


@pytest.mark.parametrize("stream_type", [PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED])
@pytest.mark.parametrize("frame_rows", [1, 2, 3])
def test_restart_points_in_frames_with_neither_entries_nor_statements(
    stream_type: PatchStreamType, frame_rows: int
) -> None:
    """Frames of few rows hold the options and, say, the start of a transaction; a loss ends there all the same."""
    good = written(stream_type, restart_every=300, frame_rows=frame_rows)
    at = len(good) // 2
    parts, lost = recover(good[:at] + good[at + 30 :])
    assert len(lost) == 1
    assert lost[0].stop is not None
    assert lost[0].stop - lost[0].start < 2_000
    numbers = [str(row.s).rsplit("/", 1)[1] for row in committed(parts)]
    assert numbers == [number for number in dict.fromkeys(numbers) for _row in range(ROWS)]
    assert len(numbers) > (TRANSACTIONS - 8) * ROWS


def test_a_frame_without_entries_that_refers_back_is_lost_with_those_after_it(twin: ModuleType) -> None:
    first = delimited(frame(options(stream_type=FLAT), *ENTRIES, add(**SPOG), *[delete()] * 20))
    # Another writer repeats the options and keeps its lookups.
    behind = delimited(frame(options(stream_type=FLAT), START), frame(add(**SPOG), COMMIT))
    again = delimited(frame(*RESTART, START, add(**SPOG), COMMIT))
    parts, lost = recover(first[:20] + b"\xff" * 30 + first[30:] + behind + again, twin)
    assert len(lost) == 2
    assert [(len(rows), counts) for explicit, rows, counts in parts if explicit] == [(0, False), (1, True)]


def test_rows_in_no_transaction_are_given_up_to_the_loss_and_behind_it() -> None:
    good = written(PatchStreamType.PUNCTUATED, in_transaction=False)
    at = len(good) // 2
    lost: list[Damage] = []
    with jellyframe.open_patch_reader(good[:at] + good[at + 30 :], on_damage=lost.append) as reader:
        patches = [(dict(patch.headers), list(patch)) for patch in reader.patches()]
    assert len(lost) == 1
    # The patch with the loss ends there; the others are whole, and those behind are known to be in no transaction.
    sizes = [sum(type(row) is Add for row in rows) for _headers, rows in patches]
    assert sizes.count(ROWS) >= len(sizes) - 1
    assert all(headers for headers, _rows in patches)
    behind = [rows for _headers, rows in patches if any(type(row) is TransactionStart for row in rows)]
    assert [[type(row) for row in rows if type(row) is not Add] for rows in behind] == [
        [Header, TransactionStart, TransactionCommit]
    ]


def test_a_transaction_without_its_end_is_aborted() -> None:
    file = io.BytesIO()
    with jellyframe.open_patch_writer(file, frame_rows=2) as writer:
        writer.write([TransactionStart(), *[Add(*statement(0, row)) for row in range(9)], TransactionCommit()])
    lost: list[Damage] = []
    with jellyframe.open_patch_reader(file.getvalue()[:-3], on_damage=lost.append) as reader:
        rows = list(reader.rows())
    assert [type(row) for row in (rows[0], *rows[-2:])] == [TransactionStart, TransactionAbort, Punctuation]
    assert lost[0].stop == len(file.getvalue()) - 3


def test_fail_fast_is_the_default() -> None:
    good = written(PatchStreamType.PUNCTUATED)
    with pytest.raises(JellyError), jellyframe.open_patch_reader(good[:3000] + good[3010:]) as reader:
        list(reader.rows())


def test_nothing_of_a_stream_of_statements_is_taken_for_damage() -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file, restart_every=1000) as writer:
        writer.write(jellyframe.Triple(*statement(number, 0)) for number in range(400))
    lost: list[Damage] = []
    with (
        pytest.raises(JellyError, match="stream of RDF statements"),
        jellyframe.open_patch_reader(file.getvalue(), on_damage=lost.append) as reader,
    ):
        list(reader.rows())
    assert not lost


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("end", [COMMIT, None])
def test_a_restart_point_inside_a_transaction(twin: ModuleType, strict: bool, end: Any) -> None:
    """Rows after a loss count only if they are known to be outside of transactions."""
    first = delimited(frame(options(stream_type=FLAT), *ENTRIES, START, add(**SPOG), *[delete()] * 20))
    behind = delimited(frame(*RESTART, add(**SPOG)), frame(delete()))
    if end is not None:
        behind += delimited(frame(end, START, add(), COMMIT))
    parts, lost = recover(first[:20] + b"\xff" * 30 + first[30:] + behind, twin, strict=strict)
    assert lost
    counted = [len(rows) for _explicit, rows, counts in parts if counts and rows]
    if end is None:
        # The input ends, so that the rows cannot have been in a transaction.
        assert counted == [2]
    else:
        assert counted == ([] if strict else [1])


def test_rows_between_two_losses_are_aborted(twin: ModuleType) -> None:
    piece = delimited(frame(*RESTART, add(**SPOG)), frame(delete()))
    bad = b"\xff" * 40
    parts, lost = recover(bad + piece + bad + piece, twin, delimited=True)
    assert len(lost) == 2
    assert [(explicit, len(rows), counts) for explicit, rows, counts in parts] == [(True, 1, False), (True, 2, True)]


def test_a_punctuation_mark_commits_the_rows_before_it(twin: ModuleType) -> None:
    restart = (options(), *RESTART[1:])
    data = b"\xff" * 40 + delimited(frame(*restart, add(**SPOG), MARK), frame(add(), START, delete(), COMMIT, MARK))
    lost: list[Damage] = []
    with twin.open_patch_reader(data, delimited=True, on_damage=lost.append) as reader:
        words = [str(row).split()[0] for row in reader.rows()]
    assert words == ["TX", "A", "TC", "#", "A", "TX", "D", "TC", "#"]


@pytest.mark.parametrize("compressed", [True, False])
def test_input_that_cannot_seek_ends_at_the_first_loss(tmp_path: Path, compressed: bool) -> None:
    good = written(PatchStreamType.FLAT)
    damaged = good[:4000] + b"\xff" * 20 + good[4000:]
    path = tmp_path / "damaged.jellyp"
    path.write_bytes(gzip.compress(damaged) if compressed else damaged)
    parts, lost = recover(path)
    assert len(lost) == 1
    assert (lost[0].stop is None) is compressed
    assert len(committed(parts)) % ROWS == 0


# ---- text ----

TEXTS = [
    # A row that cannot be read, in a transaction and outside of one.
    ("TX .\nA <x:s> .\nD <x:s> <x:p> <x:o> .\nTC .\nTX .\nTC .", "TX D TA TX TC"),
    ("A <x:s> <x:p> <x:o> .\nA <x:s> .\nTX .\nTC .", "A TX TC"),
    ("H a <x:a> .\nH b .\nH c <x:a> .", "H H"),
    # What may have been the start, or the end, of a transaction.
    ("TX x\nA <x:s> <x:p> <x:o> .\nTC .\nA <x:s> <x:p> <x:o> .", "TX A TA A"),
    ("TX x\nA <x:s> <x:p> <x:o> .\nTA .", "TX A TA"),
    ("?\nA <x:s> <x:p> <x:o> .\nTX .\nTC .", "TX A TC TX TC"),
    ("?\nA <x:s> <x:p> <x:o> .", "TX A TC"),
    ("?\nTC .\nA <x:s> <x:p> <x:o> .", "A"),
    ("TX .\nA <x:s> <x:p> <x:o> .\nTC\nTX .\nTC .", "TX A TA TX TC"),
    ("TX .\nA <x:s> <x:p> <x:o> .\nTC", "TX A TA"),
    ("?\nA <x:s> <x:p> <x:o> .\n# end of patch\nA <x:s> <x:p> <x:o> .", "TX A TC # A"),
    # A transaction that is not ended.
    ("TX .\nA <x:s> <x:p> <x:o> .\n", "TX A TA"),
    ("TX .\n# end of patch\nA <x:s> <x:p> <x:o> .", "TX TA TX A TC"),
    ("TX .\nZ .\nA <x:s> <x:p> <x:o> .", "TX TA TX A TC"),
    ("A <x:s> <x:p> <x:o> .\nZ x\nA <x:s> <x:p> <x:o> .", "A TX A TC"),
    ("TC .\nA <x:s> <x:p> <x:o> .", "TX A TC"),
]


@pytest.mark.parametrize(("text", "words"), TEXTS, ids=[words for _text, words in TEXTS])
@pytest.mark.parametrize("batch_rows", [1, 100])
def test_a_bad_line_costs_its_transaction(twin: ModuleType, text: str, words: str, batch_rows: int) -> None:
    found: list[Any] = []
    with twin.open_patch_input(text.encode(), "rdfp", on_error=found.append, batch_rows=batch_rows) as reader:
        assert " ".join(str(row).split()[0] for row in reader.rows()) == words
    assert len(found) == 1
