"""Jelly for Python: RDF as columns, in and out.

Write statements to a file, and read them back:

    from jellyframe import IRI, Literal, Triple, open_reader, open_writer

    with open_writer("people.jelly") as writer:
        writer.write([Triple(IRI("http://example.org/ada"), IRI("http://xmlns.com/foaf/0.1/name"), Literal("Ada"))])
    with open_reader("people.jelly") as reader:
        for statement in reader:
            print(statement.s, statement.o)

Read a file into an Arrow table, and write one:

    from jellyframe import read_table, write_table

    table = read_table("people.jelly", layout="ntriples")
    write_table(table, "copy.jelly", compression="gzip")

Work on whole files, of any format:

    from jellyframe import compare, convert, scan

    convert("people.jelly", "people.nq")
    assert compare("people.nq", "copy.jelly").is_equal
    rows = scan("*.nq", columns=["s", "o"]).read_all()

Make a message of a few statements, for Kafka or gRPC:

    from jellyframe import dumps, loads

    message = dumps([Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))])
    assert loads(message)[0].s == IRI("a:s")

| to | call |
| --- | --- |
| read or write a stream | `open_reader`, `open_writer` |
| read data frames | `read_pandas`, `read_polars`, `scan_polars`, `read_duckdb`; `write_table` writes them |
| read or write Arrow tables | `read_table`, `write_table`; `scan` for many files, with filters |
| encode or decode messages | `dumps`, `loads` |
| read or write patches | `open_patch_input`, `open_patch_output`; `read_patch_table`, `write_patch_table` for Arrow |
| compute, apply or record changes | `jellyframe.ops.patches`: `diff`, `apply`, `invert` and more; `record` |
| convert between formats | `convert`; `ntriples.read` and `ntriples.write` for N-Triples and N-Quads as batches |
| rewrite Jelly files | `transcode` |
| look into files | `inspect`, `validate`, `compare`, `statistics` |
| make property tables and graphs | `pivot`, `to_networkx`, `from_networkx`, `write_neo4j` |
| decode or encode without I/O | `StreamDecoder`, `StreamEncoder` |

`StreamOptions` say what a stream is like, `Limits` what is accepted from input that is not trusted. Every error that
the data can cause is a `JellyError`, and every failure of storage also an `OSError`.

`jellyframe.rdflib` and `jellyframe.pyoxigraph` read and write graphs of these libraries, `jellyframe.spark` has data
sources and jobs for PySpark, `jellyframe.grpc` a server and clients of streams, `jellyframe.web` the same over HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader, provide_view

__version__ = "0.1.0"

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.batch.frames import Frame
    from jellyframe.errors import (
        EncodeError,
        JellyError,
        KernelError,
        LimitError,
        NamedGraphError,
        OptionsError,
        ParseError,
        TableError,
        TermError,
        TextError,
        UsageError,
    )
    from jellyframe.formats import ntriples
    from jellyframe.formats.patches import open_patch_input, open_patch_output, read_patch_table, write_patch_table
    from jellyframe.integrations.frames import open_table, read_duckdb, read_pandas, read_polars, scan_polars
    from jellyframe.integrations.neo4j_csv import write_neo4j
    from jellyframe.integrations.networkx_graphs import from_networkx, to_networkx
    from jellyframe.integrations.patch_applying import apply_patch
    from jellyframe.integrations.patch_recording import record
    from jellyframe.integrations.property_tables import pivot
    from jellyframe.kernel import kernel_name
    from jellyframe.ops.comparing import compare
    from jellyframe.ops.converting import convert
    from jellyframe.ops.progress import Progress
    from jellyframe.ops.scanning import scan
    from jellyframe.ops.stats.collecting import statistics
    from jellyframe.ops.survey import inspect
    from jellyframe.ops.transcoding import transcode
    from jellyframe.ops.validating import validate
    from jellyframe.options import Limits, LogicalType, PhysicalType, StreamOptions
    from jellyframe.patch.decoder import PatchStreamDecoder
    from jellyframe.patch.encoder import PatchStreamEncoder
    from jellyframe.patch.groups import Patch, Transaction
    from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType
    from jellyframe.patch.reader import PatchReader, open_patch_reader
    from jellyframe.patch.rows import (
        Add,
        Delete,
        Header,
        NamespaceAdd,
        NamespaceDelete,
        PatchRow,
        Punctuation,
        TransactionAbort,
        TransactionCommit,
        TransactionStart,
    )
    from jellyframe.patch.writer import PatchWriter, open_patch_writer
    from jellyframe.stream.decoder import StreamDecoder
    from jellyframe.stream.encoder import StreamEncoder
    from jellyframe.stream.messages import dumps, loads
    from jellyframe.stream.reader import JellyReader, open_reader
    from jellyframe.stream.recovery import Damage
    from jellyframe.stream.tables import read_table, write_table
    from jellyframe.stream.writer import JellyWriter, open_writer
    from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, DefaultGraph, Literal, Quad, Triple

# Where each public name lives. They are imported when first used, so that a program pays for what it uses only.
_HOMES = {
    "batch": ("Batch",),
    "errors": (
        "EncodeError",
        "JellyError",
        "KernelError",
        "LimitError",
        "NamedGraphError",
        "OptionsError",
        "ParseError",
        "TableError",
        "TermError",
        "TextError",
        "UsageError",
    ),
    "batch.frames": ("Frame",),
    "formats.patches": ("open_patch_input", "open_patch_output", "read_patch_table", "write_patch_table"),
    "integrations.neo4j_csv": ("write_neo4j",),
    "integrations.networkx_graphs": ("from_networkx", "to_networkx"),
    "integrations.patch_applying": ("apply_patch",),
    "integrations.patch_recording": ("record",),
    "integrations.property_tables": ("pivot",),
    "integrations.frames": ("open_table", "read_duckdb", "read_pandas", "read_polars", "scan_polars"),
    "kernel": ("kernel_name",),
    "ops.comparing": ("compare",),
    "ops.converting": ("convert",),
    "ops.survey": ("inspect",),
    "ops.transcoding": ("transcode",),
    "ops.progress": ("Progress",),
    "ops.validating": ("validate",),
    "ops.scanning": ("scan",),
    "ops.stats.collecting": ("statistics",),
    "options": ("Limits", "LogicalType", "PhysicalType", "StreamOptions"),
    "patch.decoder": ("PatchStreamDecoder",),
    "patch.encoder": ("PatchStreamEncoder",),
    "patch.groups": (
        "Patch",
        "Transaction",
    ),
    "patch.options": (
        "PatchOptions",
        "PatchStatementType",
        "PatchStreamType",
    ),
    "patch.reader": (
        "PatchReader",
        "open_patch_reader",
    ),
    "patch.rows": (
        "Add",
        "Delete",
        "Header",
        "NamespaceAdd",
        "NamespaceDelete",
        "PatchRow",
        "Punctuation",
        "TransactionAbort",
        "TransactionCommit",
        "TransactionStart",
    ),
    "patch.writer": (
        "PatchWriter",
        "open_patch_writer",
    ),
    "stream.decoder": ("StreamDecoder",),
    "stream.encoder": ("StreamEncoder",),
    "stream.messages": ("dumps", "loads"),
    "stream.reader": ("JellyReader", "open_reader"),
    "stream.recovery": ("Damage",),
    "stream.tables": ("read_table", "write_table"),
    "stream.writer": ("JellyWriter", "open_writer"),
    "terms": ("DEFAULT_GRAPH", "IRI", "BlankNode", "DefaultGraph", "Literal", "Quad", "Triple"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
# Modules that need no import of their own: `jellyframe.grpc.connect(…)` works after `import jellyframe`.
_MODULES = {
    "grpc": "grpc",
    "ntriples": "formats.ntriples",
    "pyoxigraph": "pyoxigraph",
    "rdflib": "rdflib",
    "spark": "spark",
}

__all__ = [
    "DEFAULT_GRAPH",
    "IRI",
    "Add",
    "Batch",
    "BlankNode",
    "Damage",
    "DefaultGraph",
    "Delete",
    "EncodeError",
    "Frame",
    "Header",
    "JellyError",
    "JellyReader",
    "JellyWriter",
    "KernelError",
    "LimitError",
    "Limits",
    "Literal",
    "LogicalType",
    "NamedGraphError",
    "NamespaceAdd",
    "NamespaceDelete",
    "OptionsError",
    "ParseError",
    "Patch",
    "PatchOptions",
    "PatchReader",
    "PatchRow",
    "PatchStatementType",
    "PatchStreamDecoder",
    "PatchStreamEncoder",
    "PatchStreamType",
    "PatchWriter",
    "PhysicalType",
    "Progress",
    "Punctuation",
    "Quad",
    "StreamDecoder",
    "StreamEncoder",
    "StreamOptions",
    "TableError",
    "TermError",
    "TextError",
    "Transaction",
    "TransactionAbort",
    "TransactionCommit",
    "TransactionStart",
    "Triple",
    "UsageError",
    "apply_patch",
    "compare",
    "convert",
    "dumps",
    "from_networkx",
    "inspect",
    "kernel_name",
    "loads",
    "ntriples",
    "open_patch_input",
    "open_patch_output",
    "open_patch_reader",
    "open_patch_writer",
    "open_reader",
    "open_table",
    "open_writer",
    "pivot",
    "read_duckdb",
    "read_pandas",
    "read_patch_table",
    "read_polars",
    "read_table",
    "record",
    "scan",
    "scan_polars",
    "statistics",
    "to_networkx",
    "transcode",
    "validate",
    "write_neo4j",
    "write_patch_table",
    "write_table",
]


provide_view("batch.to_arrow", f"{__name__}.arrow.tables", "batch_to_arrow")
provide_view("reader.html", f"{__name__}.report.notebook", "reader_html")
provide_view("statistics.html", f"{__name__}.report.notebook", "statistics_html")


if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _MODULE_OF, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
