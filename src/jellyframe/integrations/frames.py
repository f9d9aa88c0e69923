"""Statements as data frames of pandas and Polars and as relations of DuckDB. `write_table` writes all of them.

The functions share the keywords of `scan`: `subjects`, `predicates`, `objects` and `graphs` select statements by their
terms, before strings are made; `in_format` is the format of files whose names do not tell it; `filesystem` is the file
system of the paths; `concatenated`, `limits` and `dialect` are those of `open_reader`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack, cast

import pyarrow as pa

from jellyframe.errors import needed_by
from jellyframe.integrations.sources import ArrowStatements, ReadingOptions, Statements, StatementSource
from jellyframe.options import LayoutName

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl


def read_pandas(
    source: Statements,
    layout: LayoutName = "flat",
    *,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
    **reading: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Read statements into a pandas data frame.

    Strings are pandas strings backed by Arrow; missing values, such as the graph of a triple, are `pandas.NA`.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly
        layout: `flat`, `ntriples` or `struct`, as in `read_table`
        columns: the columns to make; all by default. There is a column `g` if there may be named graphs
        dictionary: whether columns are categorical: each distinct string is stored once
        reading: as in `scan`: `subjects`, `predicates`, `objects`, `graphs`, `in_format`, `filesystem`, `concatenated`,
            `lenient`, `limits` and `dialect`
    """
    with needed_by("read_pandas"):
        import pandas as pd
    table = StatementSource(source, reading).table(layout, columns, dictionary=dictionary)
    strings = {pa.string(): pd.StringDtype("pyarrow")}
    frame: pd.DataFrame = table.to_pandas(types_mapper=strings.get)
    return frame


def read_polars(
    source: Statements,
    layout: LayoutName = "flat",
    *,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
    **reading: Unpack[ReadingOptions],
) -> pl.DataFrame:
    """Read statements into a Polars data frame.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly
        layout: `flat`, `ntriples` or `struct`, as in `read_table`
        columns: the columns to make; all by default. There is a column `g` if there may be named graphs
        dictionary: whether columns are categorical: each distinct string is stored once
        reading: as in `read_pandas`
    """
    with needed_by("read_polars"):
        import polars as pl
    table = StatementSource(source, reading).table(layout, columns, dictionary=dictionary)
    # Keep the chunks: joining them would copy the whole table.
    return cast("pl.DataFrame", pl.from_arrow(table, rechunk=False))


def scan_polars(
    source: Statements,
    layout: LayoutName = "flat",
    *,
    dictionary: bool = False,
    **reading: Unpack[ReadingOptions],
) -> pl.LazyFrame:
    """Return a Polars lazy frame that reads statements when it is collected.

    Only the columns that the query uses are made, and reading stops when the query needs no more rows. `subjects`,
    `predicates`, `objects` and `graphs` are applied before strings are made; filters of Polars, batch by batch.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes with Jelly
        layout: `flat`, `ntriples` or `struct`, as in `read_table`
        dictionary: whether columns are categorical
        reading: as in `read_pandas`
    """
    with needed_by("scan_polars"):
        import polars as pl
        from polars.io.plugins import register_io_source

    statements = StatementSource(source, reading)
    # Resolve the paths, and whether there are graphs, now, so that this call raises the errors.
    schema = pl.DataFrame(statements.view(layout, dictionary=dictionary).schema.empty_table()).schema

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        needed = list(schema) if with_columns is None else with_columns
        # A table without columns has no rows to count.
        view = statements.view(layout, needed or list(schema)[:1], dictionary=dictionary)
        left = n_rows
        for record_batch in view.record_batches(statements.batches()):
            frame = pl.DataFrame(pa.Table.from_batches([record_batch]))
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if needed else frame.select([])
            if left == 0:
                return

    return register_io_source(read, schema=schema, validate_schema=True)


def read_duckdb(
    source: Statements,
    layout: LayoutName = "flat",
    *,
    columns: Sequence[str] | None = None,
    connection: duckdb.DuckDBPyConnection | None = None,
    **reading: Unpack[ReadingOptions],
) -> duckdb.DuckDBPyRelation:
    """Return a DuckDB relation of statements. Each query reads them again, as a stream.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes with Jelly
        layout: `flat`, `ntriples` or `struct`, as in `read_table`
        columns: the columns to make; all by default. There is a column `g` if there may be named graphs
        connection: the connection that the relation belongs to; DuckDB's default connection if None
        reading: as in `read_pandas`
    """
    with needed_by("read_duckdb"):
        import duckdb
    statements = open_table(source, layout, columns=columns, **reading)
    relation: duckdb.DuckDBPyRelation = (duckdb if connection is None else connection).from_arrow(statements)
    return relation


def open_table(
    source: Statements,
    layout: LayoutName = "flat",
    *,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
    **reading: Unpack[ReadingOptions],
) -> ArrowStatements:
    """Return statements as a table that is read again, as a stream, each time it is used.

    It has Arrow's stream interface, which DuckDB, Polars, pandas and pyarrow read. DuckDB finds it by the name of the
    variable: `people = open_table("people.jelly")`, then `duckdb.sql("SELECT p, count(*) FROM people GROUP BY p")`.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes with Jelly
        layout: `flat`, `ntriples` or `struct`, as in `read_table`
        columns: the columns to make; all by default. There is a column `g` if there may be named graphs
        dictionary: whether strings are dictionary-encoded
        reading: as in `read_pandas`
    """
    return ArrowStatements(StatementSource(source, reading), layout, columns, dictionary=dictionary)
