"""Count the terms of batches, in the tasks.

A row has the number of uses of a term at a position of the statements in a batch. Terms that only have to be
distinguished are 128-bit hashes, so that little more than numbers passes through Spark. `key` is the category of the
term: at `p` the predicate itself; at `s`, `o` and `g` its kind, and for literals the datatype or language. Rows
for classes count entities: their `key` is the class, and the hash that of the entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.fingerprints import seeded_fingerprints
from jellyframe.ops.hashing import term_column, term_hashes, term_texts
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.stream.splits import Piece
from jellyframe.terms import RDF_TYPE

SUBJECT, PREDICATE, OBJECT, GRAPH, CLASS, BAD_RECORD = range(6)
# The types of the columns for Spark and for Arrow.
COUNTS_DDL = "position byte, key string, high long, low long, uses long"
COUNTS_SCHEMA = pa.schema(
    [
        ("position", pa.int8()),
        ("key", pa.string()),
        ("high", pa.int64()),
        ("low", pa.int64()),
        ("uses", pa.int64()),
    ]
)

_RDF_TYPE = f"<{RDF_TYPE}>"
IRI, BLANK_NODE, QUOTED_TRIPLE, DEFAULT_GRAPH = "iri", "bnode", "triple", "default"
# The keys of literals: a whole key, or a prefix before a datatype or a language.
SIMPLE_LITERAL, TYPED_LITERAL, LANGUAGE_LITERAL = '"', "^^", "@"

_FIXED_KEYS = {
    KIND_IRI: IRI,
    KIND_BLANK_NODE: BLANK_NODE,
    KIND_LITERAL: SIMPLE_LITERAL,
    KIND_QUOTED_TRIPLE: QUOTED_TRIPLE,
    KIND_DEFAULT_GRAPH: DEFAULT_GRAPH,
}
# The factor of details in codes of kinds and details: kinds are smaller.
_KINDS = 16


def counted(batches: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    """Yield the counts of each batch."""
    for batch in batches:
        if len(batch):
            yield _Counts(batch).rows()


def counted_pieces(pieces: Iterable[Piece], inputs: Inputs) -> Iterator[pa.RecordBatch]:
    """Yield the counts of pieces of files, and rows that report bad input."""
    bad = BadRecords(inputs.options.mode)
    for piece in pieces:
        yield from counted(piece_batches(piece, inputs, bad.add))
    if bad.count:
        yield bad_records(bad.quoted(), bad.count)


def bad_records(messages: list[str], count: int) -> pa.RecordBatch:
    """Return rows that report bad input: some of the messages, and the number of bad records."""
    rows = [(BAD_RECORD, message, 0, 0, 0) for message in messages]
    rows.append((BAD_RECORD, "", 0, 0, count))
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, COUNTS_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=COUNTS_SCHEMA)


class _Counts:
    """The counts of one batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._texts = term_texts(batch)
        self._keys = _keys(batch)
        self._high, self._low = (half.view(pa.int64()) for half in term_hashes(batch, seeded_fingerprints(0)))
        self._parts: list[pa.Table] = []

    def rows(self) -> pa.RecordBatch:
        self._add_terms(SUBJECT, self._batch.s)
        self._add_terms(OBJECT, self._batch.o)
        if self._batch.g is not None:
            self._add_terms(GRAPH, self._batch.g)
        else:
            self._add(GRAPH, pa.array([DEFAULT_GRAPH]), _zeros(1), _zeros(1), pa.array([len(self._batch)]))
        predicates, uses = _value_counts(term_column(self._batch.p))
        self._add(PREDICATE, self._texts.take(predicates), _zeros(len(uses)), _zeros(len(uses)), uses)
        self._add_classes()
        (rows,) = pa.concat_tables(self._parts).combine_chunks().to_batches()
        return rows

    def _add(self, position: int, key: pa.Array, high: pa.Array, low: pa.Array, uses: pa.Array) -> None:
        positions = pa.repeat(pa.scalar(position, pa.int8()), len(uses))
        self._parts.append(pa.Table.from_arrays([positions, key, high, low, uses], schema=COUNTS_SCHEMA))

    def _add_terms(self, position: int, rows: memoryview) -> None:
        terms, uses = _value_counts(term_column(rows))
        self._add(position, self._keys.take(terms), self._high.take(terms), self._low.take(terms), uses)

    def _add_classes(self) -> None:
        """Add the pairs of an entity and its class."""
        is_type = pc.equal(self._texts, _RDF_TYPE)
        if not pc.any(is_type).as_py():
            return
        has_type = is_type.take(term_column(self._batch.p))
        entities = term_column(self._batch.s).filter(has_type).cast(pa.int64())
        classes = term_column(self._batch.o).filter(has_type).cast(pa.int64())
        count = pa.scalar(len(self._texts), pa.int64())
        pairs, uses = _value_counts(pc.add(pc.multiply(classes, count), entities))
        classes = pc.divide(pairs, count)
        entities = pc.subtract(pairs, pc.multiply(classes, count))
        self._add(CLASS, self._texts.take(classes), self._high.take(entities), self._low.take(entities), uses)


def _value_counts(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    counts = pc.value_counts(values)
    return counts.field(0), counts.field(1)


def _zeros(n: int) -> pa.Array:
    return pa.repeat(pa.scalar(0, pa.int64()), n)


def _keys(batch: Batch) -> pa.Array:
    """Return the key of each term of a batch at `s`, `o` and `g`."""
    kinds, details, _ = batch.terms.buffers()
    kind = pa.array(kinds, pa.uint8()).cast(pa.int64())
    detail = pa.array(details, pa.int32()).cast(pa.int64())
    has_detail = pc.is_in(kind, pa.array([KIND_LANG_LITERAL, KIND_TYPED_LITERAL], pa.int64()))
    codes = pc.add(kind, pc.if_else(has_detail, pc.multiply(detail, _KINDS), pa.scalar(0, pa.int64())))
    encoded = codes.dictionary_encode()
    datatypes, languages = (string_array(table) for table in (batch.terms.datatypes, batch.terms.languages))
    names = []
    for code in encoded.dictionary.to_pylist():
        row, number = divmod(code, _KINDS)
        if number == KIND_TYPED_LITERAL:
            names.append(f"{TYPED_LITERAL}{datatypes[row].as_py()}")
        elif number == KIND_LANG_LITERAL:
            names.append(f"{LANGUAGE_LITERAL}{languages[row].as_py()}")
        else:
            names.append(_FIXED_KEYS[number])
    return pa.array(names, pa.string()).take(encoded.indices)
