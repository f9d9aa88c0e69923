"""Jelly-Patch against our own RDF codec on the same statements, and its size against RDF Patch text.

The statements are changes: every third one is deleted, the others are added. The change log, whose size is measured,
has them in patches of fifty, each with the headers `id` and `prev` and a transaction.
"""

import io
from array import array
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from .. import peers
from ..comparison import against_peer, measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant
from ..workload import Workload

_UNIT = "statements/s"
DECODE = Row("patch-to-batches", "Jelly-Patch → batches", "Jelly → batches", _UNIT, 0.8)
ENCODE = Row("batches-to-patch", "batches → Jelly-Patch", "batches → Jelly", _UNIT, 0.8)
TEXT = Row("rdf-patch-to-jelly-patch", "RDF Patch text → Jelly-Patch", "N-Quads text → Jelly", _UNIT, 0.7)
SIZE = Row("size-patch", "size of a change log as Jelly-Patch", "RDF Patch text", "bytes", 0.3, at_most=True)
_CHANGES_A_PATCH = 50
# The distance of identifiers: odd, so that they differ, and large, so that they look random.
_STEP = 0x9E3779B97F4A7C15F39CC0605CEDC835


def _patch_options(workload: Workload) -> Any:
    from jellyframe import PatchOptions, PatchStatementType, PatchStreamType

    options = workload.options
    return PatchOptions(
        PatchStatementType.QUADS if workload.dataset.quads else PatchStatementType.TRIPLES,
        PatchStreamType.FLAT,
        rdf_star=options.rdf_star,
        generalized_statements=options.generalized_statements,
        max_name_table_size=options.max_name_table_size,
        max_prefix_table_size=options.max_prefix_table_size,
        max_datatype_table_size=options.max_datatype_table_size,
    )


def _changes(workload: Workload) -> list[Any]:
    """Return the statements as batches of changes."""
    from jellyframe.kernel.patch_fields import PATCH_ADD, PATCH_DELETE

    def ops(rows: int) -> memoryview:
        return memoryview(array("i", [PATCH_DELETE if row % 3 == 0 else PATCH_ADD for row in range(rows)]))

    return [batch.replace(op=ops(len(batch))) for batch in workload.batches]


def _as_patch(workload: Workload, batches: list[Any]) -> bytes:
    from jellyframe import open_patch_writer

    sink = io.BytesIO()
    with open_patch_writer(sink, _patch_options(workload), frame_rows=peers.FRAME_ROWS) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def _as_jelly(workload: Workload, batches: list[Any]) -> bytes:
    from jellyframe import open_writer

    sink = io.BytesIO()
    with open_writer(sink, workload.options, frame_rows=peers.FRAME_ROWS) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def _text_to_jelly(workload: Workload) -> int:
    from jellyframe import open_writer
    from jellyframe.formats import ntriples

    with open_writer(io.BytesIO(), workload.options, frame_rows=peers.FRAME_ROWS) as writer:
        for batch in ntriples.read(workload.text, quads=workload.dataset.quads):
            writer.write_batch(batch)
        return writer.statements_written


def _text_to_patch(workload: Workload, text: bytes) -> int:
    from jellyframe import open_patch_writer
    from jellyframe.formats.patches import open_patch_input

    options = _patch_options(workload)
    with open_patch_writer(io.BytesIO(), options, frame_rows=peers.FRAME_ROWS) as writer:
        for batch in open_patch_input(text, "rdfp", statement_type=options.statement_type).batches():
            writer.write_batch(batch)
        return writer.rows_written


def _change_text(workload: Workload) -> bytes:
    lines = workload.text.splitlines(keepends=True)
    return b"".join(b"%s %s" % (b"D" if row % 3 == 0 else b"A", line) for row, line in enumerate(lines))


def _change_log(workload: Workload) -> bytes:
    """Return patches as RDF Patch text."""
    lines = _change_text(workload).splitlines(keepends=True)
    parts = []
    for number, start in enumerate(range(0, len(lines), _CHANGES_A_PATCH)):
        this, previous = (str(UUID(int=(number + n) * _STEP % (1 << 128))).encode() for n in (1, 0))
        parts.append(b"H id <urn:uuid:%s> .\nH prev <urn:uuid:%s> .\nTX .\n" % (this, previous))
        parts += lines[start : start + _CHANGES_A_PATCH]
        parts.append(b"TC .\n")
    return b"".join(parts)


def _log_size(workload: Workload, log: bytes) -> float:
    from jellyframe.formats.patches import open_patch_input, open_patch_output

    sink = io.BytesIO()
    with open_patch_input(log, "rdfp") as reader, open_patch_output(sink) as writer:
        for batch in reader.batches():
            writer.write_batch(batch)
    return len(sink.getvalue())


@for_each_dataset("patch", DECODE, ENCODE, TEXT, SIZE)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    statements = workload.statements_count
    changes = _changes(workload)
    if DECODE.name in wanted:
        yield from _decode(settings, workload, changes)
    if ENCODE.name in wanted:
        jelly = Contestant(lambda: statements if _as_jelly(workload, workload.batches) else 0, statements)
        patch = Contestant(lambda: statements if _as_patch(workload, changes) else 0, statements)
        yield from against_peer(settings, workload.name, jelly, {ENCODE: patch}, wanted)
    if TEXT.name in wanted:
        text = _change_text(workload)
        jelly = Contestant(lambda: _text_to_jelly(workload), statements)
        patch = Contestant(lambda: _text_to_patch(workload, text), statements)
        yield from against_peer(settings, workload.name, jelly, {TEXT: patch}, wanted)
    if SIZE.name in wanted:
        log = _change_log(workload)
        yield measurement(SIZE, workload.name, _log_size(workload, log), float(len(log)))


def _decode(settings: Settings, workload: Workload, changes: list[Any]) -> Iterator[Measurement]:
    from jellyframe import open_patch_reader, open_reader

    jelly, patch = _as_jelly(workload, workload.batches), _as_patch(workload, changes)

    def rows(reader: Any) -> int:
        with reader:
            return sum(len(batch) for batch in reader.batches())

    peer = Contestant(lambda: rows(open_reader(jelly)), workload.statements_count)
    ours = Contestant(lambda: rows(open_patch_reader(patch)), workload.statements_count)
    yield from against_peer(settings, workload.name, peer, {DECODE: ours}, frozenset([DECODE.name]))
