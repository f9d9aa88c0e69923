"""CSV and Parquet as formats: what they cannot hold or read is an error that says so."""

from __future__ import annotations

import io

import pytest

from jellyframe import IRI, Literal, ParseError, Triple, formats
from jellyframe.batch import Batch
from jellyframe.formats.settings import ReadSettings
from jellyframe.storage.sinks import ByteSink


def csv_of(*sizes: int) -> bytes:
    statements = [Triple(IRI("http://a/s"), IRI("http://a/p"), Literal("x\n" * (size // 2))) for size in sizes]
    sink = io.BytesIO()
    with ByteSink(sink) as file:
        output = formats.open_output(file, formats.CSV)
        output.write(Batch.from_statements(statements, quads=False))
        output.close()
    return sink.getvalue()


def rows(data: bytes) -> int:
    with formats.open_input(data, formats.CSV, ReadSettings()) as source:
        return sum(map(len, source.batches()))


def test_a_row_of_csv_that_is_too_long_is_named() -> None:
    assert rows(csv_of(1 << 20, 1 << 20, 1 << 20)) == 3
    with pytest.raises(ParseError, match="a row longer than 4 MiB after row 2: pyarrow, which reads CSV, takes none"):
        rows(csv_of(10, 10, 9 << 20))
