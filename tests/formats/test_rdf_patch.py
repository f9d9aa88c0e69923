"""RDF Patch text: the rows of a line, the places of errors, where patches end, text in pieces; on both kernels."""

from __future__ import annotations

import gzip
import io
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe.errors import EncodeError, JellyError, NamedGraphError, OptionsError, TextError
from jellyframe.formats import rdf_patch
from jellyframe.formats.rdf_patch import PatchTextWriter, open_text_input, patch_text
from jellyframe.kernel import kernel_name
from jellyframe.kernel.ntriples_stream_cy import LineStream
from jellyframe.patch import PatchStatementType, PatchStreamType, row_batches
from jellyframe.storage.compression import zstd_module
from support import patch_oracle
from support.kernel_twins import NoTwinError, load_twin, load_twin_module
from support.patch_strategies import Case, patch_streams
from support.plain import plain_term
from support.sources import Pipe

G = ("iri", "x:g")
DEFAULT = ("default",)


def iri(value: str) -> tuple[str, str]:
    return ("iri", value)


def literal(value: str) -> Any:
    return plain_term(jellyframe.Literal(value))


@pytest.fixture(scope="session")
def texts(twin: ModuleType) -> ModuleType:
    """The module, on one of the kernels."""
    return load_twin_module("pure" if twin.__name__.endswith("_pure") else kernel_name(), "formats.rdf_patch")


def rows_of(module: ModuleType, text: bytes | str, **settings: Any) -> list[patch_oracle.PlainRow]:
    data = text.encode() if isinstance(text, str) else text
    with module.open_text_input(data, **settings) as reader:
        return [patch_oracle.plain_row(row) for row in reader]


ROWS: list[tuple[str, patch_oracle.PlainRow]] = [
    ("A <x:s> <x:p> <x:o> .", ("A", iri("x:s"), iri("x:p"), iri("x:o"), DEFAULT)),
    ("D <x:s> <x:p> <x:o> <x:g> .", ("D", iri("x:s"), iri("x:p"), iri("x:o"), G)),
    ("\t A\t<x:s><x:p><x:o><x:g>. # more", ("A", iri("x:s"), iri("x:p"), iri("x:o"), G)),
    ("H id <urn:uuid:1> .", ("H", "id", iri("urn:uuid:1"))),
    ('H "two words" "x" .', ("H", "two words", literal("x"))),
    (r'H "é\n\u0041" <x:y> .', ("H", "é\nA", iri("x:y"))),
    ("H a-b.c_9 <x:y> .", ("H", "a-b.c_9", iri("x:y"))),
    ('H "" _:b .', ("H", "", ("bnode", "b"))),
    ('PA "ex" <x:y#> .', ("PA", "ex", iri("x:y#"), DEFAULT)),
    ('PA "" <x:y#> <x:g> .', ("PA", "", iri("x:y#"), G)),
    ("PA ex: <x:y#> .", ("PA", "ex", iri("x:y#"), DEFAULT)),
    ("PA : <x:y#> .", ("PA", "", iri("x:y#"), DEFAULT)),
    (r'PA "ex" "x:\u00e9" <x:g>.', ("PA", "ex", iri("x:é"), G)),
    ('PD "ex" .', ("PD", "ex", None, DEFAULT)),
    ('PD "ex" <x:g> .', ("PD", "ex", None, G)),
    ("PD ex: .", ("PD", "ex", None, DEFAULT)),
    ("PD é: _:g .", ("PD", "é", None, ("bnode", "g"))),
    ("A <_:a:b-1> <x:p> _:c .", ("A", ("bnode", "a:b-1"), iri("x:p"), ("bnode", "c"), DEFAULT)),
    ('A <x:s> <x:p> "5"^^<x:d> .', ("A", iri("x:s"), iri("x:p"), ("literal", "5", "x:d", None), DEFAULT)),
    ("# end of the patch", ()),
    ("  # A <x:s> <x:p> <x:o> .", ()),
    ("", ()),
]


@pytest.mark.parametrize(("line", "row"), ROWS, ids=[line for line, _ in ROWS])
def test_a_line_is_a_row(texts: ModuleType, line: str, row: patch_oracle.PlainRow) -> None:
    for end in ("\n", "\r\n", "\r", ""):
        assert rows_of(texts, line + end) == ([row] if row else [])


def test_transactions_and_quoted_triples(texts: ModuleType) -> None:
    quoted = ("triple", iri("x:s"), iri("x:p"), iri("x:o"))
    text = "TX .\nA << <x:s> <x:p> <x:o> >> <x:p> <x:o> .\nTC.\nTX\t.\nTA . # undone\n"
    added = ("A", quoted, iri("x:p"), iri("x:o"), DEFAULT)
    assert rows_of(texts, text) == [("TX",), added, ("TC",), ("TX",), ("TA",)]


ERRORS: list[tuple[str, int, int, str]] = [
    ("A <x:s> <x:p> .", 1, 15, "expected any term as object, found '.'"),
    ("\nA <x:s> <x:p> <x:o>", 2, 20, "expected an IRI, a blank node or a literal as graph, found the end of the text"),
    ("A <x:s> <x:p> <x:o> <x:g> <x:h> .", 1, 27, "expected '.', found '<'"),
    ("A <x:s> <x:p> <x:o> . x", 1, 23, "expected the end of the line, found 'x'"),
    ("A <s> <x:p> <x:o> .", 1, 3, "expected an absolute IRI"),
    ("A<x:s> <x:p> <x:o> .", 1, 1, "expected a row of RDF Patch (A, D, H, PA, PD, TX, TC, TA or Z), found 'A'"),
    ("<x:s> <x:p> <x:o> .", 1, 1, "expected a row of RDF Patch (A, D, H, PA, PD, TX, TC, TA or Z), found '<'"),
    ("  Q .", 1, 3, "expected a row of RDF Patch"),
    ("a <x:s> <x:p> <x:o> .", 1, 1, "expected a row of RDF Patch"),
    ("H id .", 1, 6, "expected any term as object, found '.'"),
    ("H <x:k> <x:v> .", 1, 3, "expected the key of the header"),
    ('H "k"@en <x:v> .', 1, 3, "found a literal with a language or datatype"),
    ("H k:l <x:v> .", 1, 3, "expected the key of the header"),
    ('H "k', 1, 5, "expected the rest of a string and '\"', found the end of the text"),
    ("PA ex <x:y> .", 1, 4, "expected the name of the namespace"),
    ('PA "ex" .', 1, 9, "expected the IRI of the namespace, found '.'"),
    ('PA "ex" "y" .', 1, 9, "expected an absolute IRI"),
    ('PA "ex" <_:b> .', 1, 9, "expected an absolute IRI"),
    ('PD "ex" <x:g> <x:h> .', 1, 15, "expected '.', found '<'"),
    ("TX .\nTX .", 2, 1, "a transaction starts inside another transaction"),
    ("A <x:s> <x:p> <x:o> .\n TC .", 2, 2, "a transaction commit outside of a transaction"),
    ("TX .\nTA .\nTA .", 3, 1, "a transaction abort outside of a transaction"),
    ("TX", 1, 3, "expected '.', found the end of the text"),
    ("TX .\n\n", 3, 1, "the text ends inside a transaction"),
    ("TX .\n# end of patch\nTC .", 2, 1, "'# end of patch' inside a transaction"),
    ("TX .\n Z .\nTC .", 2, 2, "'Z .' inside a transaction"),
    ("Z x", 1, 3, "expected '.', found 'x'"),
    ("ZZ .", 1, 1, "expected a row of RDF Patch"),
    ('A <x:s> <x:é> "\\q" .', 1, 17, "after a backslash"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), ERRORS, ids=[text for text, *_ in ERRORS])
def test_errors_have_a_position(texts: ModuleType, text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(TextError) as caught:
        rows_of(texts, text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_text_that_is_not_utf8_is_refused(texts: ModuleType) -> None:
    for text in (b'H "\xff" <x:y> .', b"PA \xff: <x:y> .", b'PA "a" "x:\xff" .', b"# \xff", b"H \xff <x:y> ."):
        with pytest.raises(TextError, match="UTF-8"):
            rows_of(texts, text)


def test_bad_lines_are_left_out_if_on_error_is_set(texts: ModuleType) -> None:
    found: list[TextError] = []
    text = "TX .\nTX .\nA <x:s> .\nD <x:s> <x:p> <x:o> .\nTC .\n"
    rows = rows_of(texts, text, on_error=found.append)
    # Their transactions are aborted: see tests/patch/test_recovery.py.
    assert rows == [("TX",), ("TA",), ("TX",), ("D", iri("x:s"), iri("x:p"), iri("x:o"), DEFAULT), ("TA",)]
    assert [error.line for error in found] == [2, 3]


def test_transactions_in_any_order_if_not_strict(texts: ModuleType) -> None:
    assert rows_of(texts, "TC .\nTX .\nTX .\n", strict=False) == [("TC",), ("TX",), ("TX",)]


def test_graphs_are_refused_in_a_stream_of_triples(texts: ModuleType) -> None:
    triples = {"statement_type": PatchStatementType.TRIPLES}
    assert rows_of(texts, "A <x:s> <x:p> <x:o> .", **triples) == [("A", iri("x:s"), iri("x:p"), iri("x:o"), None)]
    for text in ("A <x:s> <x:p> <x:o> <x:g> .", 'PA "a" <x:o> <x:g> .', 'PD "a" <x:g> .'):
        with pytest.raises(TextError, match="only a patch of quads has graphs"):
            rows_of(texts, text, **triples)


def test_generalized_statements_only_if_allowed(texts: ModuleType) -> None:
    assert len(rows_of(texts, 'A "s" _:p "o" "g" .')) == 1
    with pytest.raises(TextError, match="as subject"):
        rows_of(texts, 'A "s" <x:p> "o" .', generalized=False)


# ---- where patches end ----

HEADED = "H id <x:1> .\nA <x:s> <x:p> <x:o> .\nH id <x:2> .\nTX .\nH note <x:n> .\nTC .\nTX .\nTA .\n"


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("headers", "H A P H TX H TC TX TA"),
        ("marks", "H A H TX H TC TX TA"),
        ("transactions", "H A H TX H TC P TX TA"),
        ("none", "H A H TX H TC TX TA"),
    ],
)
def test_patches_end_as_patch_ends_says(texts: ModuleType, ends: str, expected: str) -> None:
    assert " ".join(row[0] for row in rows_of(texts, HEADED, patch_ends=ends)) == expected
    for batch_rows in (1, 2, 3):
        found = rows_of(texts, HEADED, patch_ends=ends, batch_rows=batch_rows)
        assert " ".join(row[0] for row in found) == expected


@pytest.mark.parametrize("ends", ["headers", "marks", "transactions", "none"])
def test_marks_end_patches(texts: ModuleType, ends: str) -> None:
    text = "# end of patch\n  # end of patch \t\r\n# end of patch.\nTX .\nTC .\n# end of patch\nH id <x:1> .\n"
    expected = ["TX", "TC", "H"] if ends == "none" else ["P", "P", "TX", "TC", "P", "H"]
    assert [row[0] for row in rows_of(texts, text, patch_ends=ends)] == expected


@pytest.mark.parametrize("ends", ["headers", "marks", "transactions", "none"])
def test_segments_of_jena_are_patches(texts: ModuleType, ends: str) -> None:
    text = "Z .\n Z.\r\nTX .\nTC .\nZ . # end\nH id <x:1> .\nZ .\n"
    expected = ["TX", "TC", "H"] if ends == "none" else ["P", "P", "TX", "TC", "P", "H", "P"]
    for batch_rows in (1, 100):
        assert [row[0] for row in rows_of(texts, text, patch_ends=ends, batch_rows=batch_rows)] == expected


def test_patches_of_a_text_are_read_one_by_one() -> None:
    with open_text_input(HEADED.encode()) as reader:
        assert [(patch.headers["id"], len(list(patch))) for patch in reader.patches()] == [
            (jellyframe.IRI("x:1"), 2),
            (jellyframe.IRI("x:2"), 6),
        ]
    with open_text_input(HEADED.encode(), patch_ends="none") as reader:
        assert reader.options.stream_type is PatchStreamType.FLAT
        assert len(list(reader.patches())) == 1


def test_an_unknown_value_of_patch_ends_is_refused() -> None:
    with pytest.raises(OptionsError, match="patch_ends is 'lines', and must be one of headers, marks"):
        open_text_input(b"", patch_ends="lines")  # type: ignore[arg-type]


# ---- in pieces, compressed, damaged ----


@pytest.mark.parametrize("wrap", [Pipe, gzip.compress, zstd_module().compress], ids=["pipe", "gzip", "zstd"])
def test_text_of_any_source_is_read(wrap: Any) -> None:
    text = ("".join(line + "\n" for line, _ in ROWS) * 40).encode()
    with open_text_input(wrap(text)) as reader:
        rows = [patch_oracle.plain_row(row) for row in reader if not isinstance(row, jellyframe.Punctuation)]
    assert rows == [row for _, row in ROWS if row] * 40


def test_the_bytes_of_a_batch_are_bounded() -> None:
    line = b'A <x:s> <x:p> "%s" .\n'
    text = b"".join(line % (b"%d" % n + b"x" * (1 << 20)) for n in range(80))
    with open_text_input(text) as reader:
        sizes = [len(batch) for batch in reader.batches()]
    assert sum(sizes) == 80
    assert max(sizes) <= 33


def test_every_truncation_gives_an_error_or_the_first_rows(texts: ModuleType) -> None:
    text = ("".join(line + "\n" for line, _ in ROWS) + HEADED).encode()
    whole = rows_of(texts, text, batch_rows=1)
    places: list[int | None] = []
    for size in range(len(text)):
        found: list[patch_oracle.PlainRow] = []
        try:
            with texts.open_text_input(text[:size], batch_rows=1) as reader:
                found.extend(patch_oracle.plain_row(row) for row in reader)
        except TextError as error:
            places.append(error.line)
        # A cut after a full stop may leave a row without what follows it; only the last one can differ.
        assert found[:-1] == whole[: max(len(found) - 1, 0)]
    assert None not in places


def outcome(module: ModuleType, text: bytes) -> Any:
    try:
        return rows_of(module, text)
    except JellyError as error:
        return type(error).__name__, str(error)


def both_modules() -> tuple[ModuleType, ModuleType]:
    try:
        return load_twin_module("compiled", "formats.rdf_patch"), load_twin_module("pure", "formats.rdf_patch")
    except NoTwinError as reason:
        pytest.skip(str(reason))


def test_both_kernels_read_damaged_texts_alike() -> None:
    compiled, pure = both_modules()
    text = ("".join(line + "\n" for line, _ in ROWS) + HEADED).encode()
    rng = Random(7)
    for _ in range(400):
        damaged = bytearray(text)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice(b'<>"\\_:. \t\n\rATXCDPH#\xc3\xff')
        cut = bytes(damaged[: rng.choice([len(text), rng.randrange(len(text))])])
        assert outcome(pure, cut) == outcome(compiled, cut), cut


# ---- writing ----


def text_of(module: ModuleType, package: Any, case: Case) -> bytes:
    options, _writing, rows = case
    sink = io.BytesIO()
    with module.PatchTextWriter(sink, package.PatchOptions(**options)) as writer:
        writer.write([patch_oracle.build_row(package, row) for row in rows])
        assert writer.rows_written == len(rows)
    return sink.getvalue()


def without_lost_iris(rows: list[patch_oracle.PlainRow]) -> list[patch_oracle.PlainRow]:
    """The rows as a text can hold them: a namespace is deleted without its IRI."""
    return [("PD", row[1], None, row[3]) if row[0] == "PD" else row for row in rows]


@given(case=patch_streams(), batch_rows=st.sampled_from([1, 3, 16_384]))
def test_written_text_is_read_back(case: Case, batch_rows: int) -> None:
    text = text_of(rdf_patch, jellyframe, case)
    settings = {"statement_type": case[0]["statement_type"], "patch_ends": "marks", "lenient": True}
    rows = rows_of(rdf_patch, text, batch_rows=batch_rows, **settings)
    assert rows == without_lost_iris(case[2])


@given(case=patch_streams())
def test_both_kernels_write_and_read_the_same_text(case: Case) -> None:
    compiled, pure = both_modules()
    text = text_of(compiled, load_twin("compiled"), case)
    assert text_of(pure, load_twin("pure"), case) == text
    settings = {"statement_type": case[0]["statement_type"], "patch_ends": "transactions", "lenient": True}
    assert rows_of(compiled, text, **settings) == rows_of(pure, text, **settings)


@given(case=patch_streams())
def test_lines_are_the_same_without_the_texts_of_terms(case: Case) -> None:
    rows = [patch_oracle.build_row(jellyframe, row) for row in case[2]]
    for batch in row_batches(rows, has_graph=case[0]["statement_type"] == 2):
        stream = LineStream(batch.columns, batch.terms, 0, len(batch), 40, batch.op)
        pieces = []
        while piece := bytes(stream.next_piece()):
            pieces.append(piece)
        assert b"".join(pieces) == b"".join(patch_text(batch))


def test_a_row_prints_as_its_line() -> None:
    for line, row in ROWS:
        if row:
            made = patch_oracle.build_row(jellyframe, row)
            sink = io.BytesIO()
            with PatchTextWriter(sink) as writer:
                writer.write([made])
            assert sink.getvalue().decode() == f"{made}\n", line


def test_keys_of_headers_are_quoted_only_if_needed() -> None:
    keys = ["id", "_x-9", "9x", "a b", "", "é", "a.b", "w" * 255, "w" * 256]
    rows = [jellyframe.Header(key, jellyframe.IRI("x:v")) for key in keys]
    sink = io.BytesIO()
    with PatchTextWriter(sink) as writer:
        writer.write(rows)
    lines = sink.getvalue().decode().splitlines()
    assert lines == [str(row) for row in rows]
    assert [line.startswith('H "') for line in lines] == [False, False, True, True, True, True, True, False, True]


def test_a_refused_row_leaves_those_before_it() -> None:
    sink = io.BytesIO()
    start = jellyframe.TransactionStart()
    with PatchTextWriter(sink) as writer:
        with pytest.raises(EncodeError, match="is not a row of a patch"):
            writer.write([start, "no row"])  # type: ignore[list-item]
        writer.end_patch()
    assert sink.getvalue() == b"TX .\n# end of patch\n"
    with pytest.raises(EncodeError, match="the writer is closed"):
        writer.end_patch()


def test_a_row_without_the_terms_that_it_needs_is_refused(texts: ModuleType, twin: ModuleType) -> None:
    default, iri = twin.DEFAULT_GRAPH, twin.IRI("x:y")
    start = twin.TransactionStart()
    for row, message in (
        (twin.Add(iri, default, iri), "a statement needs a subject, a predicate and an object"),
        (twin.Header("key", default), "a header needs a plain literal as key, and a value"),
        (twin.NamespaceAdd("ex", twin.Literal("x")), "a namespace needs a plain literal as name, and an IRI"),
    ):
        sink = io.BytesIO()
        with texts.PatchTextWriter(sink) as writer:
            with pytest.raises(EncodeError, match=f"row 1 of those given: {message}"):
                writer.write([start, row])
            assert writer.rows_written == 1
            writer.write([twin.TransactionAbort()])
        assert sink.getvalue() == b"TX .\nTA .\n"
        (batch,) = row_batches([row], has_graph=True) if twin is jellyframe else [None]
        if batch is not None:
            stream = LineStream(batch.columns, batch.terms, 0, 1, 40, batch.op)
            with pytest.raises(EncodeError, match=message):
                stream.next_piece()


def test_a_flat_stream_has_no_end_of_patch(tmp_path: Any) -> None:
    options = jellyframe.PatchOptions(PatchStatementType.TRIPLES, PatchStreamType.FLAT)
    iri = jellyframe.IRI("x:y")
    with PatchTextWriter(tmp_path / "a.rdfp", options, compression="gzip") as writer:
        with pytest.raises(EncodeError, match="one patch"):
            writer.end_patch()
        with pytest.raises(NamedGraphError, match="set statement_type to QUADS"):
            writer.write([jellyframe.Add(iri, iri, iri, iri)])
        assert not (tmp_path / "a.rdfp").exists()
    assert gzip.decompress((tmp_path / "a.rdfp").read_bytes()) == b""
