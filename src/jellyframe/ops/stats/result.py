"""The result of statistics: numbers of statements and of terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jellyframe.lazy import view_maker
from jellyframe.ops.documents import json_document
from jellyframe.ops.stats.counting import (
    BAD_RECORD,
    CLASS,
    DEFAULT_GRAPH,
    GRAPH,
    LANGUAGE_LITERAL,
    OBJECT,
    PREDICATE,
    SIMPLE_LITERAL,
    SUBJECT,
    TYPED_LITERAL,
)
from jellyframe.ops.summary import MAX_PROBLEMS
from jellyframe.terms import RDF_LANG_STRING, XSD_STRING

LITERAL = "literal"
KIND_TITLES = {"iri": "IRIs", LITERAL: "literals", "bnode": "blank nodes", "triple": "quoted triples"}
# Of the distinct counts, those that an approximate result only estimates.
ESTIMATED = ("subjects", "objects", "graphs")


@dataclass
class Count:
    """The number of uses, and of distinct ones."""

    uses: int = 0
    distinct: int = 0

    def add(self, uses: int, distinct: int) -> None:
        self.uses += uses
        self.distinct += distinct


Counts = dict[str, Count]


@dataclass
class Statistics:
    """Statistics of a set of statements. Keys of dictionaries are IRIs, and other terms in N-Triples syntax.

    The uses of a class are statements that an entity is in the class; its distinct count is that of the entities.
    Dictionaries are ordered by uses.

    Attributes:
        is_approximate: whether the numbers of distinct terms are estimates
        subjects: the uses of each kind of term as subjects: `iri`, `bnode`, `triple`
        objects: the uses of each kind of term as objects
        graphs: the uses of each kind of term as names of graphs
        predicates: the uses of each predicate
        classes: the uses of each class
        datatypes: the uses of each datatype of literals
        languages: the uses of each language tag of literals
        default_graph: the number of statements in the default graph
        bad_records: the number of bad records that were left out
        problems: messages about the first of them
    """

    is_approximate: bool = False
    subjects: Counts = field(default_factory=dict)
    objects: Counts = field(default_factory=dict)
    graphs: Counts = field(default_factory=dict)
    predicates: Counts = field(default_factory=dict)
    classes: Counts = field(default_factory=dict)
    datatypes: Counts = field(default_factory=dict)
    languages: Counts = field(default_factory=dict)
    default_graph: int = 0
    bad_records: int = 0
    problems: list[str] = field(default_factory=list)

    def _repr_html_(self) -> str:
        """Return the counts as tables, for notebooks."""
        html: str = view_maker("statistics.html")(self)
        return html

    @classmethod
    def of(cls, rows: Iterable[tuple[int, str, int, int]], *, approximate: bool = False) -> Statistics:
        """Return the statistics from summed counts.

        Args:
            rows: position, key, uses and distinct count, of all tasks
            approximate: whether the distinct counts are estimates
        """
        result = cls(is_approximate=approximate)
        for position, key, uses, distinct in rows:
            result._add(position, key, uses, distinct)
        for name in ("subjects", "objects", "graphs", "predicates", "classes", "datatypes", "languages"):
            setattr(result, name, _by_use(getattr(result, name)))
        result.problems = sorted(result.problems)[:MAX_PROBLEMS]
        return result

    def _add(self, position: int, key: str, uses: int, distinct: int) -> None:
        if position == PREDICATE:
            _add(self.predicates, _shown(key), uses, distinct)
        elif position == CLASS:
            _add(self.classes, _shown(key), uses, distinct)
        elif position == SUBJECT:
            _add(self.subjects, _kind(key), uses, distinct)
        elif position == OBJECT:
            _add(self.objects, _kind(key), uses, distinct)
            if _kind(key) == LITERAL:
                self._add_literal(key, uses, distinct)
        elif position == GRAPH and key == DEFAULT_GRAPH:
            self.default_graph += uses
        elif position == GRAPH:
            _add(self.graphs, _kind(key), uses, distinct)
        elif position == BAD_RECORD and key:
            self.problems.append(key)
        else:
            self.bad_records += uses

    def _add_literal(self, key: str, uses: int, distinct: int) -> None:
        if key.startswith(LANGUAGE_LITERAL):
            _add(self.languages, key.removeprefix(LANGUAGE_LITERAL), uses, distinct)
            datatype = RDF_LANG_STRING
        else:
            datatype = XSD_STRING if key == SIMPLE_LITERAL else key.removeprefix(TYPED_LITERAL)
        _add(self.datatypes, datatype, uses, distinct)

    @property
    def statements(self) -> int:
        """The number of statements."""
        return sum(count.uses for count in self.predicates.values())

    @property
    def distinct(self) -> dict[str, int]:
        """The number of distinct terms at each position, and of classes."""
        return {
            "subjects": _distinct(self.subjects),
            "predicates": len(self.predicates),
            "objects": _distinct(self.objects),
            "graphs": _distinct(self.graphs),
            "classes": len(self.classes),
        }

    @property
    def uses_by_kind(self) -> dict[str, int]:
        """The numbers of IRIs, literals, blank nodes and quoted triples as subjects and objects."""
        return {
            kind: sum(counts[kind].uses for counts in (self.subjects, self.objects) if kind in counts)
            for kind in KIND_TITLES
        }

    def as_json(self) -> str:
        """Return all numbers as JSON."""
        document = {
            "statements": self.statements,
            "approximate": self.is_approximate,
            "distinct": self.distinct,
            "default_graph_statements": self.default_graph,
            "terms": {
                "subjects": _entries(self.subjects, "kind"),
                "objects": _entries(self.objects, "kind"),
                "graphs": _entries(self.graphs, "kind"),
            },
            "predicates": [{"predicate": name, "statements": count.uses} for name, count in self.predicates.items()],
            "classes": [
                {"class": name, "entities": count.distinct, "statements": count.uses}
                for name, count in self.classes.items()
            ],
            "datatypes": _entries(self.datatypes, "datatype"),
            "languages": _entries(self.languages, "language"),
            "bad_records": self.bad_records,
            "problems": self.problems,
        }
        return json_document(document)


def _add(counts: Counts, name: str, uses: int, distinct: int) -> None:
    counts.setdefault(name, Count()).add(uses, distinct)


def _by_use(counts: Counts) -> Counts:
    return dict(sorted(counts.items(), key=lambda item: (-item[1].uses, item[0])))


def _distinct(counts: Counts) -> int:
    return sum(count.distinct for count in counts.values())


def _entries(counts: Counts, name: str) -> list[dict[str, str | int]]:
    return [{name: key, "uses": count.uses, "distinct": count.distinct} for key, count in counts.items()]


def _kind(key: str) -> str:
    return LITERAL if key.startswith((SIMPLE_LITERAL, TYPED_LITERAL, LANGUAGE_LITERAL)) else key


def _shown(text: str) -> str:
    """Return an IRI without its angle brackets; other terms unchanged."""
    return text[1:-1] if text.startswith("<") and not text.startswith("<<") else text
