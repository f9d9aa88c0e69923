"""Tables whose strings do not fit into one chunk are cut by bytes, in both directions."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

import jellyframe
from jellyframe.arrow import layouts, tables
from jellyframe.batch import Batch
from jellyframe.errors import LimitError, TableError
from jellyframe.kernel.table_cy import StringTable
from jellyframe.options import LayoutName
from jellyframe.storage.types import Buffer
from jellyframe.terms import IRI, Literal, Triple

S, P = IRI("http://example.org/s"), IRI("http://example.org/p")
STATEMENTS = [Triple(S, P, Literal(f"{number:04}" * 25)) for number in range(3000)]
LAYOUTS = ("struct", "ntriples", "flat")


def jelly(statements: list[Triple]) -> bytes:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(statements)
    return sink.getvalue()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_batch_becomes_several_record_batches(monkeypatch: pytest.MonkeyPatch, layout: LayoutName) -> None:
    monkeypatch.setattr(layouts, "BATCH_BYTES", 10_000)
    table = jellyframe.read_table(jelly(STATEMENTS), layout, frame_column=True)
    chunks = table["o"].chunks
    assert len(chunks) > 30
    assert max(chunk.nbytes for chunk in chunks) < 20_000
    monkeypatch.undo()
    assert table.to_pylist() == jellyframe.read_table(jelly(STATEMENTS), layout, frame_column=True).to_pylist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("chunk_rows", [7, 3000])
def test_a_table_is_cut_and_joined_by_bytes(
    monkeypatch: pytest.MonkeyPatch, layout: LayoutName, chunk_rows: int
) -> None:
    whole = jellyframe.read_table(jelly(STATEMENTS), layout)
    table = pa.Table.from_batches(whole.combine_chunks().to_batches(chunk_rows))
    monkeypatch.setattr(tables, "BATCH_BYTES", 20_000)
    batches = list(tables.table_to_batches(table))
    assert [statement for batch in batches for statement in batch.statements()] == STATEMENTS
    sizes = [batch.terms.values.data_size for batch in batches]
    assert max(sizes) < 25_000
    assert len(batches) < 100, "small chunks are joined"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_rows_of_very_different_sizes_are_cut_by_bytes(monkeypatch: pytest.MonkeyPatch, kind: pa.DataType) -> None:
    statements = [Triple(S, P, Literal("x" * (50_000 if number % 100 == 0 else 1))) for number in range(1000)]
    table = jellyframe.read_table(jelly(statements), "ntriples")
    table = table.cast(pa.schema([(name, kind) for name in table.column_names]))
    monkeypatch.setattr(tables, "BATCH_BYTES", 60_000)
    batches = list(tables.table_to_batches(table))
    assert [statement for batch in batches for statement in batch.statements()] == statements
    assert max(batch.terms.values.data_size for batch in batches) < 130_000


def test_a_string_table_never_exceeds_its_limit() -> None:
    """A block of memory may be larger than asked for; the offsets must not go beyond the limit for all that."""
    batch = Batch.from_statements([Triple(S, P, Literal("x" * 100_000))])
    table = StringTable(1, 90_000, None, 110_000)
    from jellyframe.kernel.ntriples_write_cy import term_strings

    assert table.data_size == 0
    with pytest.raises(LimitError, match="exceed 100000 bytes"):
        term_strings(batch.terms, None, 0, 100_000)
    assert term_strings(batch.terms, None, 0, 110_000).count == batch.terms.count


class TestLayoutThatIsSaid:
    strings = pa.table({"s": ["http://a"], "p": ["http://b"], "o": ["c"]})

    def test_the_layout_set_is_used(self) -> None:
        with pytest.raises(TableError, match="the layout 'flat' needs a column 'o_kind'"):
            jellyframe.write_table(self.strings, io.BytesIO(), layout="flat")
        with pytest.raises(TableError, match="column 's' is string, and in the layout 'struct'"):
            jellyframe.write_table(self.strings, io.BytesIO(), layout="struct")

    def test_columns_of_numbers_are_refused(self) -> None:
        table = self.strings.append_column("o_kind", pa.array([1]))
        with pytest.raises(TableError, match="column 'o_kind' is int64"):
            jellyframe.write_table(table, io.BytesIO(), layout="flat")

    def test_flat(self) -> None:
        sink = io.BytesIO()
        jellyframe.write_table(self.strings.append_column("o_kind", pa.array(["literal"])), sink, layout="flat")
        with jellyframe.open_reader(sink.getvalue()) as reader:
            assert list(reader) == [Triple(IRI("http://a"), IRI("http://b"), Literal("c"))]


class _NullSink:
    """Counts what is written, and keeps nothing."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: Buffer) -> int:
        self.size += len(data)
        return len(data)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["struct", "ntriples"])
def test_a_table_above_2_gib_of_strings_is_written(layout: LayoutName) -> None:
    """Its chunks share their memory, so that it takes little."""
    statements = [Triple(S, P, Literal(f"{number:07}" * 10_000)) for number in range(400)]
    (chunk,) = jellyframe.read_table(jelly(statements), layout).to_batches()
    table = pa.Table.from_batches([chunk] * 80)
    assert sum(piece.nbytes for piece in table["o"].chunks) > 1 << 31
    sink = _NullSink()
    jellyframe.write_table(table, sink)
    assert sink.size > 1 << 31
