"""Read many files, of any known format, as one stream of Arrow record batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from jellyframe.arrow.layouts import POSITIONS, get_layout, requested_columns
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import TableError
from jellyframe.ops.bad_input import CORRUPT_COLUMN, FAILFAST, PERMISSIVE, Mode
from jellyframe.ops.filters import FILTERS, RowFilter, TermOrText
from jellyframe.ops.inputs import KEEP, BlankNodes, InputOptions, Inputs, Paths
from jellyframe.ops.progress import ProgressCallback
from jellyframe.ops.rows import ORIGIN_COLUMNS, Columns, read_rows
from jellyframe.options import DialectName, LayoutName, Limits
from jellyframe.stream.splits import Piece
from jellyframe.terms import IRI, BlankNode, DefaultGraph, Literal, Triple

if TYPE_CHECKING:
    from jellyframe.storage.types import FileSystem

# One wanted term, or several.
Terms: TypeAlias = TermOrText | Sequence[TermOrText]
_ONE_TERM = (str, IRI, BlankNode, Literal, Triple, DefaultGraph)


def scan(
    paths: Paths,
    layout: LayoutName = "struct",
    *,
    columns: Sequence[str] | None = None,
    subjects: Terms | None = None,
    predicates: Terms | None = None,
    objects: Terms | None = None,
    graphs: Terms | None = None,
    in_format: str | None = None,
    filesystem: FileSystem | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    concatenated: bool = False,
    lenient: bool = False,
    limits: Limits | None = None,
    dialect: DialectName = "released",
    progress: ProgressCallback | None = None,
) -> pa.RecordBatchReader:
    """Return the statements of many files as Arrow record batches, which are read on demand.

    Files are Jelly, N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD or Parquet in one of the layouts, plain or
    compressed. Filters are applied before any string is made. A filter takes terms, text in N-Triples syntax, or plain
    IRIs; `default` is the default graph.

    Args:
        paths: files, folders and patterns (`*`, `?`, `[ab]`, `{a,b}`, `**`), local or in an object store (`s3://`,
            `gs://`, `abfs://`)
        layout: as in `read_table`. There is always a column `g`, which is null for the default graph
        columns: the columns to make; they may include `file`, `frame` and `metadata`, the origin of a
            statement
        subjects: keep statements with one of these subjects
        predicates: keep statements with one of these predicates
        objects: keep statements with one of these objects
        graphs: keep statements in one of these graphs
        filesystem: a file system of pyarrow or fsspec, if the paths are in it
        in_format: the format of the files; by default that of each file name
        mode: what to do about bad input: `FAILFAST` raises, `DROPMALFORMED` skips it, `PERMISSIVE` reports it in rows
            without a statement, in another column `_corrupt_record`
        blank_nodes: `keep` keeps labels, `per-file` makes them different for each file
        batch_rows, concatenated, limits, dialect: as in `open_reader`
        lenient: accept text that specifications forbid, such as IRIs that are not absolute
        progress: a function that is called with a `Progress`, as the files are read
    """
    given = {"subjects": subjects, "predicates": predicates, "objects": objects, "graphs": graphs}
    options = InputOptions(
        filters={FILTERS[name]: terms_of(terms) for name, terms in given.items() if terms is not None},
        mode=mode,
        blank_nodes=blank_nodes,
        batch_rows=batch_rows,
        concatenated=concatenated,
        lenient=lenient,
        limits=limits or Limits(),
        dialect=dialect,
    )
    RowFilter(options.filters)
    made = scan_columns(layout, columns, CORRUPT_COLUMN if mode == PERMISSIVE else None)
    inputs = Inputs.find(paths, in_format=in_format, options=options, filesystem=filesystem).metered(progress)
    return pa.RecordBatchReader.from_batches(made.arrow, read_rows(map(Piece, inputs.files), inputs, made))


def scan_columns(layout: str, names: Sequence[str] | None, corrupt: str | None = None) -> Columns:
    """Return the columns of a scan: columns of a layout, columns with the origin of statements, and `corrupt`."""
    statement = {field.name: field for position in POSITIONS for field in get_layout(layout).fields(position)}
    known = {**statement, **{name: pa.field(name, kind) for name, kind in ORIGIN_COLUMNS.items()}}
    wanted = requested_columns(statement if names is None else names, known)
    if len(set(wanted)) < len(wanted):
        raise TableError(f"a column is named twice in {', '.join(wanted)}")
    fields = [known[name] for name in wanted]
    if corrupt is not None:
        fields.append(pa.field(corrupt, pa.string()))
    return Columns(layout, pa.schema(fields), tuple(name for name in wanted if name in statement), corrupt)


def terms_of(terms: Terms) -> Sequence[TermOrText]:
    """Return one term or several as a sequence."""
    if isinstance(terms, _ONE_TERM):
        return (terms,)
    return tuple(terms)
