"""Select statements by their terms, checking each distinct term of a batch once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.errors import OptionsError, TextError
from jellyframe.formats import ntriples
from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_DEFAULT_GRAPH, KIND_IRI
from jellyframe.ops.hashing import term_column
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, DefaultGraph, Term

# A term, the default graph, or either as text.
TermOrText: TypeAlias = str | Term | DefaultGraph
# The names of the filters in options, and the position of each.
FILTERS = {"subjects": "s", "predicates": "p", "objects": "o", "graphs": "g"}


def parse_term(text: TermOrText, position: str) -> Term | DefaultGraph:
    """Return a term from a term, N-Triples syntax, or a plain IRI; `default` is the default graph."""
    if not isinstance(text, str):
        return text
    if position == "g" and text.lower() == "default":
        return DEFAULT_GRAPH
    if not text.startswith(("<", '"', "_:")):
        return IRI(text)
    if text.startswith("<") and text.endswith(">") and not text.startswith("<<") and "\\" not in text:
        # Data may have IRIs that are not absolute, which N-Triples does not allow.
        return IRI(text[1:-1])
    try:
        (batch,) = ntriples.read(
            f"<s:> <p:> {text} .\n".encode("utf-8", "surrogatepass"), quads=False, generalized=True
        )
        (statement,) = batch.statements()
    except (TextError, ValueError) as error:
        raise OptionsError(f"{text!r} is not a term in N-Triples syntax: {error}") from None
    return statement.o


class _Wanted:
    """The wanted terms of one position."""

    def __init__(self, terms: Sequence[Term | DefaultGraph]) -> None:
        self._iris = pa.array([term.value for term in terms if isinstance(term, IRI)], pa.string())
        self._labels = pa.array([term.label for term in terms if isinstance(term, BlankNode)], pa.string())
        self.default_graph = any(isinstance(term, DefaultGraph) for term in terms)
        others = [term for term in terms if not isinstance(term, IRI | BlankNode | DefaultGraph)]
        self._texts = pa.array(list(map(str, others)), pa.string())

    def among(self, batch: Batch) -> pa.Array:
        """Return, for each term of a batch, whether it is wanted."""
        kinds = pa.Array.from_buffers(pa.uint8(), batch.terms.count, [None, pa.py_buffer(batch.terms.buffers()[0])])
        values = string_array(batch.terms.values)
        found = []
        for kind, strings in ((KIND_IRI, self._iris), (KIND_BLANK_NODE, self._labels)):
            if len(strings):
                is_kind = pc.equal(kinds, pa.scalar(kind, pa.uint8()))
                found.append(pc.and_(is_kind, pc.is_in(values, value_set=strings)))
        if self.default_graph:
            found.append(pc.equal(kinds, pa.scalar(KIND_DEFAULT_GRAPH, pa.uint8())))
        if len(self._texts):
            from jellyframe.kernel.ntriples_write_cy import term_strings

            texts = string_array(term_strings(batch.terms, columns=batch.columns))
            found.append(pc.is_in(texts, value_set=self._texts))
        mask = pa.repeat(False, batch.terms.count)
        for some in found:
            mask = pc.or_(mask, some)
        return mask


class RowFilter:
    """Selects statements with a wanted term at each position that is filtered."""

    def __init__(self, terms: Mapping[str, Sequence[TermOrText]]) -> None:
        self._wanted = {
            position: _Wanted([parse_term(text, position) for text in texts]) for position, texts in terms.items()
        }

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def apply(self, batch: Batch) -> Batch:
        """Return a batch of the wanted rows, over the same terms. Frames keep their numbers, and may be empty."""
        mask = self.mask(batch)
        return batch if mask is None else batch.filter(mask)

    def mask(self, batch: Batch) -> bytes | memoryview | None:
        """Return, for each row of a batch, a byte that is 1 if it is wanted; None if all are."""
        mask: pa.Array | None = None
        for position, wanted in self._wanted.items():
            column = getattr(batch, position)
            if column is None:
                if wanted.default_graph:
                    continue
                return bytes(len(batch))
            terms = wanted.among(batch)
            if not terms.true_count:
                return bytes(len(batch))
            rows = terms.take(term_column(column))
            mask = rows if mask is None else pc.and_(mask, rows)
        return None if mask is None else _bytes(mask)


def _bytes(mask: pa.Array) -> memoryview:
    """Return a mask with one byte for each row."""
    return memoryview(mask.cast(pa.uint8()).buffers()[1])[: len(mask)]
