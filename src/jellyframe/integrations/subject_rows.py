"""Distinct statements as integers over one table of terms, grouped by subject.

Graphs and language tags are dropped, so that the same value counts once. Needs numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.errors import LimitError, TableError, shortened
from jellyframe.kernel.columns_cy import first_ambiguous_iri
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)
from jellyframe.kernel.ntriples_write_cy import term_strings
from jellyframe.kernel.table_cy import LONGEST_INTERNED
from jellyframe.terms import RDF_TYPE

# The class of subjects without a class.
NO_CLASS = ""
_LITERALS = (KIND_LITERAL, KIND_LANG_LITERAL, KIND_TYPED_LITERAL)
_WITH_SYNTAX = 1 << KIND_BLANK_NODE | 1 << KIND_QUOTED_TRIPLE

Ints: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]


class Terms:
    """The terms of a batch, which rows refer to by their numbers."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        kinds, details, _quoted = batch.terms.buffers()
        self.kinds = np.asarray(kinds, np.uint8)
        self._details = np.asarray(details, np.int32)

    @cached_property
    def values(self) -> pa.Array:
        """The strings of the terms: IRIs, labels and lexical forms."""
        return string_array(self._batch.terms.values)

    @cached_property
    def texts(self) -> pa.Array:
        """The terms as in tables: blank nodes as `_:label`, quoted triples as `<< s p o >>`, others unchanged.

        Raises TableError if an IRI looks like one of those.
        """
        ambiguous = first_ambiguous_iri(self._batch.terms)
        if ambiguous >= 0:
            raise TableError(
                f"the IRI {shortened(self.values[ambiguous].as_py())} cannot be recognised as one in a table, where "
                'strings that begin with _:, " or << are other terms'
            )
        if not np.isin(self.kinds, (KIND_BLANK_NODE, KIND_QUOTED_TRIPLE)).any():
            return self.values
        texts = term_strings(self._batch.terms, plain_kinds=~_WITH_SYNTAX, columns=self._batch.columns)
        return string_array(texts)

    @cached_property
    def is_literal(self) -> Mask:
        """Whether each term is a literal."""
        return np.isin(self.kinds, _LITERALS)

    @cached_property
    def is_iri(self) -> Mask:
        """Whether each term is an IRI."""
        is_iri: Mask = self.kinds == KIND_IRI
        return is_iri

    @property
    def has_quoted(self) -> bool:
        """Whether there are quoted triples."""
        return bool((self.kinds == KIND_QUOTED_TRIPLE).any())

    def string(self, number: int) -> str:
        """Return the string of a term."""
        return self._batch.terms.values.string(number)

    def datatypes(self, numbers: Ints) -> set[str] | None:
        """Return the datatypes of terms; None unless all of them are literals with datatypes other than strings."""
        if (self.kinds[numbers] != KIND_TYPED_LITERAL).any():
            return None
        strings = self._batch.terms.datatypes
        return {strings.string(number) for number in np.unique(self._details[numbers]).tolist()}

    def first_equal(self) -> Ints | None:
        """Return for each term the first one that is equal except for the language; None if no two are equal.

        Tables of terms have short terms once, but long ones, quoted triples, and those with one of very many datatypes
        may occur more than once.
        """
        chosen = self._maybe_repeated()
        numbers = np.flatnonzero(chosen).astype(np.int32)
        if not len(numbers):
            return None
        details, kinds = self._details_by_name()[numbers], self.kinds[numbers].astype(np.int64)
        kinds[kinds == KIND_LANG_LITERAL] = KIND_LITERAL
        details[kinds != KIND_TYPED_LITERAL] = 0
        strings = (self.texts if self.has_quoted else self.values).take(pa.array(numbers)).dictionary_encode()
        _, sorts = np.unique(kinds << 32 | details, return_inverse=True)
        keys = sorts.astype(np.int64) * len(numbers) + strings.indices.to_numpy()
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(numbers):
            return None
        equal = np.arange(len(chosen), dtype=np.int32)
        equal[numbers] = numbers[first][place]
        return equal

    def _maybe_repeated(self) -> Mask:
        kinds, datatypes = self.kinds, self._batch.terms.datatypes.strings()
        offsets = np.asarray(self._batch.terms.values.buffers()[0], np.int32)
        chosen: Mask = (np.diff(offsets) > LONGEST_INTERNED) | (kinds == KIND_QUOTED_TRIPLE)
        if (kinds == KIND_LANG_LITERAL).any():
            chosen |= (kinds == KIND_LANG_LITERAL) | (kinds == KIND_LITERAL)
        if len(set(datatypes)) < len(datatypes):
            chosen |= kinds == KIND_TYPED_LITERAL
        return chosen

    def _details_by_name(self) -> Ints:
        """Return the details of the terms with equal datatypes as equal numbers."""
        names = self._batch.terms.datatypes.strings()
        first = {name: number for number, name in reversed(list(enumerate(names)))}
        if len(first) == len(names):
            return self._details
        equal = np.array([first[name] for name in names], np.int32)
        is_typed = self.kinds == KIND_TYPED_LITERAL
        details = self._details.copy()
        details[is_typed] = equal[details[is_typed]]
        return details


class Part(NamedTuple):
    """The rows of a predicate: the positions of their subjects in ascending order, and the numbers of their objects."""

    predicate: str
    subjects: Ints
    objects: Ints

    @property
    def repeats(self) -> bool:
        """Whether a subject has several values."""
        return bool((self.subjects[1:] == self.subjects[:-1]).any())


@dataclass(frozen=True)
class SubjectRows:
    """Distinct statements in the order of their subjects, and for each subject in their original order.

    `subjects` has the terms of the subjects, in the order of their first statements; `s` refers to these. `p` refers to
    `predicates`, and `o` to terms. `place` is the original position of each statement.
    """

    terms: Terms
    subjects: Ints
    predicates: Ints
    s: Ints
    p: Ints
    o: Ints
    place: Ints

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> SubjectRows:
        """Return the distinct statements of batches."""
        batch = _joined(batches)
        terms = Terms(batch)
        s, p, o = (np.asarray(column, np.int32) for column in (batch.s, batch.p, batch.o))
        equal = terms.first_equal()
        if equal is not None:
            s, p, o = equal[s], equal[p], equal[o]
        subjects, s = _numbered(s, len(terms.kinds))
        predicates, p = _numbered(p, len(terms.kinds))
        order = np.argsort(s, kind="stable").astype(np.int32)
        s, p, o = s[order], p[order], o[order]
        is_first = _first_of_each(s, p, o, len(predicates), len(terms.kinds))
        return cls(terms, subjects, predicates, s[is_first], p[is_first], o[is_first], order[is_first])

    def __len__(self) -> int:
        return len(self.s)

    @cached_property
    def names(self) -> pa.Array:
        """The subjects as in tables."""
        return self.terms.texts.take(pa.array(self.subjects))

    @cached_property
    def is_class(self) -> Mask:
        """Whether each row states a class of its subject."""
        is_type = np.array([self.terms.string(number) == RDF_TYPE for number in self.predicates.tolist()], bool)
        return is_type[self.p] & self.terms.is_iri[self.o] if len(is_type) else np.zeros(0, bool)

    def parts(self) -> list[Part]:
        """Return the rows of each predicate, in the order of their first rows."""
        order = np.argsort(self.p, kind="stable")
        p = self.p[order]
        starts = np.flatnonzero(np.diff(p, prepend=-1))
        first = np.minimum.reduceat(self.place[order], starts) if len(starts) else starts
        parts = [
            Part(self.terms.string(int(self.predicates[p[rows[0]]])), self.s[order[rows]], self.o[order[rows]])
            for rows in np.split(np.arange(len(order)), starts[1:])
            if len(rows)
        ]
        return [parts[number] for number in np.argsort(first).tolist()]

    def select(self, mask: Mask) -> SubjectRows:
        """Return the rows of a mask; all subjects are kept."""
        columns = (column[mask] for column in (self.s, self.p, self.o, self.place))
        return SubjectRows(self.terms, self.subjects, self.predicates, *columns)

    def by_class(self) -> Iterator[tuple[str, SubjectRows]]:
        """Yield the rows of the instances of each class, and finally those of subjects without a class."""
        is_class = self.is_class
        classes, members = self.o[is_class], self.s[is_class]
        order = np.argsort(classes, kind="stable")
        classes, members = classes[order], members[order]
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        for start, instances in zip(starts.tolist(), np.split(members, starts[1:]), strict=False):
            yield self.terms.string(int(classes[start])), self.of_subjects(instances)
        others = np.setdiff1d(np.arange(len(self.subjects), dtype=np.int32), members)
        if len(others):
            yield NO_CLASS, self.of_subjects(others)

    def instances(self, class_iri: str) -> SubjectRows:
        """Return the rows of the instances of a class."""
        chosen = [
            number for number in np.unique(self.o[self.is_class]).tolist() if self.terms.string(number) == class_iri
        ]
        return self.of_subjects(self.s[self.is_class & np.isin(self.o, chosen)])

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum(np.bincount(self.s, minlength=len(self.subjects)))

    def of_subjects(self, chosen: Ints) -> SubjectRows:
        """Return the rows of subjects, given by their positions in ascending order."""
        ends = self._ends[chosen]
        counts = ends - np.where(chosen > 0, self._ends[chosen - 1], 0)
        # Each run of rows starts at the first row of its subject.
        rows = np.arange(counts.sum()) + np.repeat(ends - np.cumsum(counts), counts)
        s = np.repeat(np.arange(len(chosen), dtype=np.int32), counts)
        return SubjectRows(
            self.terms, self.subjects[chosen], self.predicates, s, self.p[rows], self.o[rows], self.place[rows]
        )


def _joined(batches: Iterable[Batch]) -> Batch:
    found = list(batches)
    if not found:
        return Batch.from_statements([])
    try:
        return Batch.concat(found)
    except LimitError as error:
        raise LimitError(
            "the distinct terms of the statements take more than 2 GiB: choose some subjects, predicates or graphs"
        ) from error


def _numbered(column: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the distinct values in the order of their first rows, and for each row the number of its value.

    The values are less than `count`.
    """
    first = np.full(count, -1, np.int32)
    # If rows have the same value, the last assignment counts: that of the first row.
    first[column[::-1]] = np.arange(len(column) - 1, -1, -1, dtype=np.int32)
    values = np.flatnonzero(first >= 0).astype(np.int32)
    values = values[np.argsort(first[values])]
    first[values] = np.arange(len(values), dtype=np.int32)
    return values, first[column]


def _first_of_each(s: Ints, p: Ints, o: Ints, predicates: int, terms: int) -> Mask:
    """Return for each row whether it is the first of its kind. Fast, since the rows are sorted by subject."""
    keys = s.astype(np.int64) * predicates + p
    if len(s) and (int(s[-1]) + 1) * predicates * terms >= 1 << 63:
        _, keys = np.unique(keys, return_inverse=True)
    keys = keys.astype(np.int64) * terms + o
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.ones(len(keys), bool)
    is_first[order[1:][keys[1:] == keys[:-1]]] = False
    return is_first
