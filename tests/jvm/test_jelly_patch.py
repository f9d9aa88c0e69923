"""Jelly-JVM's patch modules, on Jena and on RDF4J, read what we write, and we read what they write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import jellyframe
from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Add,
    Delete,
    Literal,
    NamespaceAdd,
    NamespaceDelete,
    ParseError,
    PatchOptions,
    PatchRow,
    PatchStreamType,
    Punctuation,
    TransactionCommit,
    TransactionStart,
)
from support import patch_oracle
from support.jvm import Jvm
from support.patch_strategies import FLAT, FRAME, PUNCTUATED, fitting_options, row_lists, terms_of
from support.strategies import Shape, flat_terms, table_needs

# RDF4J has no generalized statements.
SHAPES = {
    "jena": st.builds(Shape, st.booleans(), st.booleans(), st.booleans()),
    "rdf4j": st.builds(Shape, quads=st.booleans(), star=st.booleans()),
}
LIBRARIES = pytest.mark.parametrize("library", SHAPES)
EXAMPLES = settings(max_examples=200)
Patch = list[PatchRow]


def can_be_held(row: PatchRow) -> bool:
    """Return whether Jena keeps a row as it is: it changes language tags to the case that BCP 47 recommends."""
    return all(
        not isinstance(term, Literal) or term.language in (None, "en", "en-GB", "zh-Hant-TW")
        for term in flat_terms(terms_of(row))
    )


@st.composite
def cases(draw: st.DrawFn, library: str) -> tuple[PatchOptions, list[Patch]]:
    """Options, and patches without their marks; a FLAT stream is one patch."""
    shape = draw(SHAPES[library])
    stream_type = draw(st.sampled_from([FRAME, FLAT, PUNCTUATED]))
    plain = [draw(row_lists(shape, FLAT)) for _ in range(1 if stream_type == FLAT else draw(st.integers(1, 4)))]
    options = draw(fitting_options(shape, stream_type, [row for patch in plain for row in patch]))
    patches = [[patch_oracle.build_row(jellyframe, row) for row in patch] for patch in plain]
    return PatchOptions(**options), [list(filter(can_be_held, patch)) for patch in patches]


# ---- rows as lines, as the JVM reads and writes them ----


def line(row: PatchRow) -> str:
    """Return a row as a line; a graph that is left out is the default graph, or none in streams of triples."""
    kind, *parts = patch_oracle.plain_row(row)
    texts = [text(part) for part in parts]
    if kind == "PD" and parts[1] is None:
        texts[1] = '""'
    return " ".join([kind, *filter(None, texts), "."])


def text(part: Any) -> str:
    match part:
        case None | ("default",):
            return ""
        case str():
            return quoted(part)
        case ("iri", value):
            return f"<{value}>"
        case ("bnode", label):
            return f"_:{label}"
        case ("literal", lex, datatype, language):
            return quoted(lex) + (f"@{language}" if language else f"^^<{datatype}>" if datatype else "")
        case ("triple", *terms):
            return f"<< {' '.join(map(text, terms))} >>"
    raise TypeError(f"not a plain term: {part!r}")


def quoted(value: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
    return '"' + "".join(escapes.get(char, char) for char in value) + '"'


def lines(options: PatchOptions, patches: list[Patch]) -> list[str]:
    """Return the lines of all patches, each with the mark that ends it; a FLAT stream has none."""
    ends = [] if options.stream_type is PatchStreamType.FLAT else ["P ."]
    return [found for patch in patches for found in [*map(line, patch), *ends]]


def read_lines(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n")[:-1]


def write_lines(path: Path, found: list[str]) -> None:
    path.write_bytes("".join(f"{each}\n" for each in found).encode())


def with_room_for_prefixes(options: PatchOptions, patches: list[Patch]) -> PatchOptions:
    """Return the options with a table that holds the prefixes of any one row.

    Jelly-JVM's encoder lets a prefix take the place of one that the same row refers to.
    """
    if options.max_prefix_table_size == 0:
        return options
    most = max(table_needs(terms_of(row))[0] for patch in patches for row in patch)
    return options.replace(max_prefix_table_size=max(options.max_prefix_table_size, most))


def encoding(options: PatchOptions, frame_rows: int) -> list[object]:
    sizes = (options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size)
    return [options.statement_type.name, options.stream_type.name, *sizes, frame_rows]


def read_patches(path: Path, options: PatchOptions) -> list[str]:
    with jellyframe.open_patch_reader(path) as reader:
        assert reader.options.stream_type is options.stream_type
        assert reader.options.statement_type is options.statement_type
        patches: list[Patch] = [
            [row for row in patch if not isinstance(row, Punctuation)] for patch in reader.patches()
        ]
    return lines(options, patches)


def write_patches(path: Path, options: PatchOptions, patches: list[Patch], **writing: Any) -> None:
    with jellyframe.open_patch_writer(path, options, **writing) as writer:
        for patch in patches:
            writer.write(patch)
            if options.stream_type is not PatchStreamType.FLAT:
                writer.end_patch()


def has_its_graph(row: PatchRow) -> bool:
    """Return whether Jelly-JVM on RDF4J writes the graph of a row: the default graph of a namespace is left out."""
    return not (isinstance(row, NamespaceAdd | NamespaceDelete) and row.g is DEFAULT_GRAPH)


# ---- the tests ----


@LIBRARIES
@EXAMPLES
@given(
    data=st.data(),
    frame_rows=st.sampled_from([1, 3, 256]),
    restart_every=st.sampled_from([None, 1, 64]),
    index=st.booleans(),
)
def test_jelly_jvm_reads_our_patches(
    patch_jvm: Jvm,
    folder: Path,
    library: str,
    data: st.DataObject,
    frame_rows: int,
    restart_every: int | None,
    index: bool,
) -> None:
    options, patches = data.draw(cases(library))
    index = index and options.stream_type is not PatchStreamType.FRAME
    writing = {"frame_rows": frame_rows, "restart_every": restart_every, "index": index}
    write_patches(folder / "ours.jellyp", options, patches, **writing)
    patch_jvm.run("decode", library, folder / "ours.jellyp", folder / "theirs.lines")
    assert read_lines(folder / "theirs.lines") == lines(options, patches)


@LIBRARIES
@EXAMPLES
@given(data=st.data())
def test_jelly_jvm_reads_a_bare_frame(patch_jvm: Jvm, folder: Path, library: str, data: st.DataObject) -> None:
    options, patches = data.draw(cases(library))
    write_patches(folder / "ours.jellyp", options, patches[:1], delimited=False)
    patch_jvm.run("decode", library, folder / "ours.jellyp", folder / "theirs.lines")
    assert read_lines(folder / "theirs.lines") == lines(options, patches[:1])


@LIBRARIES
@EXAMPLES
@given(data=st.data(), frame_rows=st.sampled_from([1, 3, 256]))
def test_we_read_patches_of_jelly_jvm(
    patch_jvm: Jvm, folder: Path, library: str, data: st.DataObject, frame_rows: int
) -> None:
    options, patches = data.draw(cases(library))
    if library == "rdf4j":
        patches = [list(filter(has_its_graph, patch)) for patch in patches]
    # Its encoder has the options in front of the first row, so that without rows there is no stream.
    assume(any(patches))
    options = with_room_for_prefixes(options, patches)
    write_lines(folder / "ours.lines", lines(options, patches))
    settings = encoding(options, frame_rows)
    patch_jvm.run("encode", library, folder / "ours.lines", folder / "theirs.jellyp", *settings)
    assert read_patches(folder / "theirs.jellyp", options) == lines(options, patches)


@LIBRARIES
@pytest.mark.parametrize("stream_type", [PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED])
def test_large_files_with_tables_that_evict(
    patch_jvm: Jvm, folder: Path, library: str, stream_type: PatchStreamType
) -> None:
    options = PatchOptions(
        stream_type=stream_type, max_name_table_size=64, max_prefix_table_size=4, max_datatype_table_size=8
    )
    patch = [change(number) for number in range(30_000)]
    patches = [patch] if stream_type is PatchStreamType.FLAT else [patch[:10_000], patch[10_000:]]
    write_patches(folder / "ours.jellyp", options, patches, restart_every=1 << 16)
    patch_jvm.run("decode", library, folder / "ours.jellyp", folder / "rows.lines")
    assert read_lines(folder / "rows.lines") == lines(options, patches)
    patch_jvm.run("encode", library, folder / "rows.lines", folder / "theirs.jellyp", *encoding(options, 256))
    assert read_patches(folder / "theirs.jellyp", options) == lines(options, patches)


def change(number: int) -> PatchRow:
    """Return one of many rows, of which each shares some terms with the one before."""
    graph = IRI(f"http://example.org/graph/{number // 100 % 5}")
    if number % 50 == 0:
        return NamespaceAdd(f"ns{number % 7}", IRI(f"http://example.org/{number % 11}#"), graph)
    kind = Add if number % 3 else Delete
    return kind(
        IRI(f"http://example.org/{number % 7}/subject{number // 4 % 5000}"),
        IRI(f"http://example.org/vocab#p{number // 2 % 23}"),
        Literal(str(number), datatype=f"http://example.org/type{number % 40}"),
        graph,
    )


def test_a_namespace_that_jelly_jvm_writes_without_a_graph(patch_jvm: Jvm, folder: Path) -> None:
    """In a stream of quads, no graph is one that repeats, and before the first one there is nothing to repeat."""
    (folder / "jena.rdfp").write_text('TX .\nPA "ex" <http://example.org/> .\nTC .\n', encoding="utf-8")
    settings = encoding(PatchOptions(), 256)
    patch_jvm.run("to-jelly", folder / "jena.rdfp", folder / "theirs.jellyp", *settings)
    with (
        jellyframe.open_patch_reader(folder / "theirs.jellyp") as reader,
        pytest.raises(ParseError, match="strict=False"),
    ):
        list(reader.rows())
    with jellyframe.open_patch_reader(folder / "theirs.jellyp", strict=False) as reader:
        namespace = NamespaceAdd("ex", IRI("http://example.org/"), DEFAULT_GRAPH)
        assert list(reader.rows()) == [TransactionStart(), namespace, TransactionCommit()]
