"""Patches as Arrow tables: round trips in every layout, plain and with dictionaries; and invalid tables."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe.errors import EncodeError, TableError
from jellyframe.formats.patches import read_patch_table, write_patch_table
from jellyframe.patch import PatchStatementType, PatchStreamType
from support import patch_oracle
from support.patch_strategies import Case, patch_streams, write

LAYOUTS = ("struct", "ntriples", "flat")
TERM = {"kind": "iri", "value": "x:y", "datatype": None, "lang": None}
TEXT = b"""\
H id "1"@en .
TX .
PA "ex" <x:e> <x:g> .
A <x:s> <x:p> "o"^^<x:d> <x:g> .
D <x:s> <x:p> << <x:s> <x:p> _:b >> .
PD "ex" .
TA .
# end of patch
# end of patch
"""


def patches_of(data: bytes) -> list[list[patch_oracle.PlainRow]]:
    with jellyframe.open_patch_reader(data) as reader:
        return [[patch_oracle.plain_row(row) for row in patch] for patch in reader.patches()]


def rewritten(data: bytes, layout: Any, **settings: Any) -> bytes:
    sink = io.BytesIO()
    write_patch_table(read_patch_table(data, layout, **settings), sink)
    return sink.getvalue()


@given(case=patch_streams(), layout=st.sampled_from(LAYOUTS), dictionary=st.booleans(), rows=st.sampled_from([3, 9999]))
def test_tables_are_written_back_unchanged(case: Case, layout: str, dictionary: bool, rows: int) -> None:
    data = write(jellyframe, case)
    made = rewritten(data, layout, dictionary=dictionary, batch_rows=rows)
    assert patches_of(made) == patches_of(data)
    with jellyframe.open_patch_reader(made) as reader, jellyframe.open_patch_reader(data) as original:
        assert reader.options == original.options


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dictionary", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("stream_type", [1, 2, 3], ids=["FRAME", "FLAT", "PUNCTUATED"])
def test_every_kind_of_row_in_every_layout(layout: Any, dictionary: bool, stream_type: int) -> None:
    table = read_patch_table(TEXT, layout, dictionary=dictionary, format="rdfp")
    assert table["op"].to_pylist() == ["H", "TX", "PA", "A", "D", "PD", "TA", "P", "P"]
    nulls = {name: table[name].is_null().to_pylist() for name in ("s", "p", "o", "g")}
    assert nulls["s"] == [False, True, False, False, False, False, True, True, True]
    assert nulls["p"] == [True, True, True, False, False, True, True, True, True]
    assert nulls["o"] == [False, True, False, False, False, True, True, True, True]
    assert nulls["g"] == [True, True, False, False, True, True, True, True, True]
    sink = io.BytesIO()
    options = jellyframe.PatchOptions(stream_type=PatchStreamType(stream_type))
    write_patch_table(table, sink, options)
    assert len(patches_of(sink.getvalue())) == (1 if stream_type == 2 else 2)
    text = io.BytesIO()
    write_patch_table(read_patch_table(sink.getvalue(), layout, dictionary=dictionary), text, format="rdfp")
    assert text.getvalue() == (TEXT if stream_type != 2 else TEXT.replace(b"# end of patch\n", b""))


def test_some_columns_in_an_order() -> None:
    table = read_patch_table(TEXT, "flat", columns=["o_kind", "op"], format="rdfp")
    assert table.column_names == ["o_kind", "op"]
    assert table["o_kind"].to_pylist() == ["literal", None, "iri", "literal", "triple", None, None, None, None]


def test_record_batches_are_read_as_they_are_drawn() -> None:
    sink = io.BytesIO()
    write_patch_table(read_patch_table(TEXT * 100, format="rdfp"), sink)
    with jellyframe.open_patch_reader(sink.getvalue(), batch_rows=100) as reader:
        sizes = [len(batch) for batch in reader.record_batches("ntriples")]
    assert sum(sizes) == 900
    assert max(sizes) <= 100
    with jellyframe.open_patch_reader(sink.getvalue()) as reader:
        assert pa.table(reader).num_rows == 900


def test_a_batch_shows_its_operations() -> None:
    with jellyframe.formats.patches.open_patch_input(TEXT, "rdfp") as reader:
        (batch,) = reader.batches()
    assert batch.to_arrow("flat").schema.names[0] == "op"


def test_a_table_without_graphs_is_written_as_triples() -> None:
    table = pa.table({"op": ["A", "P"], "s": ["<x:s>", None], "p": ["<x:p>", None], "o": ["<x:o>", None]})
    sink = io.BytesIO()
    write_patch_table(table, sink)
    with jellyframe.open_patch_reader(sink.getvalue()) as reader:
        assert reader.options.statement_type is PatchStatementType.TRIPLES
        assert [str(row) for row in reader] == ["A <x:s> <x:p> <x:o> .", "# end of patch"]


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"op": ["X"]}, TableError, "row 0: column 'op': 'X' is not an operation: they are A, D, PA"),
    ({"op": [None]}, TableError, "column 'op' of strings|there is no operation"),
    ({"op": [1]}, TableError, "needs a column 'op' of strings: the columns are op, s, p, o"),
    ({"op": ["TX"]}, TableError, "row 0: column 'op': a term in column 's', where a row 'TX' has none"),
    ({"op": ["H"]}, TableError, "a term in column 'p', where a row 'H' has none"),
    ({"op": ["A"], "s": pa.nulls(1, pa.string())}, EncodeError, "row 0: the default graph as subject"),
    ({"op": ["H"], "p": pa.nulls(1, pa.string())}, EncodeError, "the key of a header is not a plain literal"),
]


@pytest.mark.parametrize(("columns", "kind", "message"), BAD, ids=[str(number) for number in range(len(BAD))])
def test_invalid_tables_are_refused(columns: dict[str, Any], kind: type[Exception], message: str) -> None:
    given = pa.table({"op": ["A"], "s": ["<x:s>"], "p": ["<x:p>"], "o": ["<x:o>"], **columns})
    with pytest.raises(kind, match=message):
        write_patch_table(given, io.BytesIO())


def test_a_kind_without_a_value_is_refused() -> None:
    columns = {"op": ["A"], "s": ["x:s"], "p": ["x:p"], "o": pa.nulls(1, pa.string()), "o_kind": ["iri"]}
    with pytest.raises(TableError, match="column 'o': the value of the term is null"):
        write_patch_table(pa.table(columns), io.BytesIO())


def test_a_table_of_statements_is_refused() -> None:
    with pytest.raises(TableError, match="needs a column 'op' of strings: the columns are s, p, o"):
        write_patch_table(pa.table({name: ["<x:y>"] for name in "spo"}), io.BytesIO())
    table = read_patch_table(TEXT, format="rdfp").replace_schema_metadata({b"jelly.patch.options": b"[]"})
    with pytest.raises(TableError, match=r"jelly\.patch\.options of the schema holds no options of patches"):
        write_patch_table(table, io.BytesIO())
