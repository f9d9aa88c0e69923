"""Compare two sets of statements up to the labels of their blank nodes.

    difference = compare(first, second)         # None if they are isomorphic
    isomorphic(first, second)

Both are RDF datasets: the order of statements and their repetition do not matter, a triple is a quad in the
default graph, and the case of language tags is ignored. Blank nodes may be at any position, also in quoted triples.

Blank nodes are coloured by their statements, and the colours are refined until they do not split further; both sides at
once, so that a colour means the same on both. If several nodes have the same colour, one of them is tried with each of
its possible partners. Parts that are not connected through such nodes are independent of each other, so each
part is searched separately. This is fast on real data; on adversarial graphs it could take
forever, so the work is limited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import nsmallest
from typing import Any, NamedTuple

from jellyframe.batch.lines import statement_line
from jellyframe.errors import LimitError
from jellyframe.terms import DEFAULT_GRAPH, BlankNode, Literal, Quad, Statement, Triple

# Steps of the search, in addition to a number per statement.
MAX_STEPS = 5_000_000
_STEPS_A_STATEMENT = 100
_EXAMPLES = 3

_Node = tuple[int, str]


class _Hole:
    """A placeholder for a blank node in a pattern."""

    def __repr__(self) -> str:
        return "_:"


_HOLE = _Hole()


class Difference(NamedTuple):
    """How two sets of statements differ: the numbers of statements that differ, and examples of extra ones."""

    message: str
    first_count: int
    second_count: int
    extra_in_first: list[str]
    extra_in_second: list[str]


def isomorphic(first: Iterable[Statement], second: Iterable[Statement], *, max_steps: int = MAX_STEPS) -> bool:
    """Return whether there is a mapping of blank nodes that turns one set of statements into the other."""
    return compare(first, second, max_steps=max_steps) is None


def compare(
    first: Iterable[Statement], second: Iterable[Statement], *, max_steps: int = MAX_STEPS
) -> Difference | None:
    """Return None if the two are isomorphic, otherwise how they differ. Raises LimitError after `max_steps`."""
    sides = (_Side(first), _Side(second))
    if sides[0].ground != sides[1].ground:
        return Difference(
            "the statements without blank nodes differ",
            len(sides[0].ground),
            len(sides[1].ground),
            _examples(sides[0].ground - sides[1].ground),
            _examples(sides[1].ground - sides[0].ground),
        )
    shapes = [Counter(shape for shape, _labels in side.patterned) for side in sides]
    if shapes[0] != shapes[1]:
        only = (shapes[0] - shapes[1], shapes[1] - shapes[0])
        return Difference(
            "the statements with blank nodes differ",
            len(sides[0].with_nodes),
            len(sides[1].with_nodes),
            _examples(statement for statement in sides[0].with_nodes if _pattern(statement)[0] in only[0]),
            _examples(statement for statement in sides[1].with_nodes if _pattern(statement)[0] in only[1]),
        )
    search = _Search(sides, max_steps)
    try:
        found = search.run()
    except RecursionError:
        raise search.too_hard() from None
    if found:
        return None
    counts = [len(side.with_nodes) for side in sides]
    return Difference("no mapping of the blank nodes makes the statements equal", counts[0], counts[1], [], [])


def _examples(statements: Iterable[Quad]) -> list[str]:
    return nsmallest(_EXAMPLES, map(statement_line, statements))


class _Side:
    """One of the two sets, split into statements with and without blank nodes."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.ground: set[Quad] = set()
        self.with_nodes: set[Quad] = set()
        for statement in statements:
            quad = normalised(statement)
            (self.with_nodes if _has_node(quad) else self.ground).add(quad)

    @cached_property
    def patterned(self) -> list[tuple[object, tuple[str, ...]]]:
        return list(map(_pattern, self.with_nodes))


def normalised(statement: Statement) -> Quad:
    """Return a statement as a quad, with language tags in lower case."""
    s, p, o, *graph = statement
    return Quad(_normalised_term(s), _normalised_term(p), _normalised_term(o), graph[0] if graph else DEFAULT_GRAPH)


def _normalised_term(term: Any) -> Any:
    if isinstance(term, Literal) and term.language is not None and not term.language.islower():
        return Literal(term.lex, language=term.language.lower())
    if isinstance(term, Triple):
        return Triple(*map(_normalised_term, term))
    return term


def _has_node(terms: Iterable[Any]) -> bool:
    return any(isinstance(term, BlankNode) or (isinstance(term, Triple) and _has_node(term)) for term in terms)


def _pattern(statement: Quad) -> tuple[object, tuple[str, ...]]:
    """Return a statement with holes for its blank nodes, and their labels in the order of the holes."""
    labels: list[str] = []
    return _with_holes(statement, labels), tuple(labels)


def _with_holes(terms: Iterable[Any], labels: list[str]) -> tuple[object, ...]:
    shape: list[object] = []
    for term in terms:
        if isinstance(term, BlankNode):
            labels.append(term.label)
            shape.append(_HOLE)
        elif isinstance(term, Triple):
            shape.append(_with_holes(term, labels))
        else:
            shape.append(term)
    return tuple(shape)


class _Search:
    """The blank nodes of both sides as numbers, their colours, and the search for a mapping."""

    def __init__(self, sides: tuple[_Side, _Side], max_steps: int) -> None:
        numbers: dict[_Node, int] = {}
        shapes: dict[object, int] = {}
        self._side: list[int] = []
        # For each node, its statements: the numbers of their patterns, and the nodes in the holes.
        self._statements: list[list[tuple[int, tuple[int, ...]]]] = []
        for which, side in enumerate(sides):
            for shape, labels in side.patterned:
                pattern = shapes.setdefault(shape, len(shapes))
                nodes = tuple(self._number(numbers, (which, label)) for label in labels)
                for node in set(nodes):
                    self._statements[node].append((pattern, nodes))
        self._colour = [0] * len(numbers)
        self._members: dict[int, set[int]] = {0: set(range(len(numbers)))}
        self._next_colour = 1
        # Changes to undo when an attempt fails: nodes and their earlier colours.
        self._trail: list[tuple[int, int]] = []
        self._steps_left = max_steps + _STEPS_A_STATEMENT * sum(map(len, self._statements))
        self._max_steps = self._steps_left

    def _number(self, numbers: dict[_Node, int], node: _Node) -> int:
        if node not in numbers:
            numbers[node] = len(numbers)
            self._side.append(node[0])
            self._statements.append([])
        return numbers[node]

    def too_hard(self) -> LimitError:
        return LimitError(
            f"the blank nodes are too much alike: no answer after {self._max_steps} steps of comparing them"
        )

    def run(self) -> bool:
        everything = set(range(len(self._colour)))
        return self._is_balanced(everything) and self._refine(everything) and self._solve(everything)

    # ---- colours ----

    def _signature(self, node: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return the statements of a node, with the colours of their other nodes."""
        colour = self._colour
        statements = self._statements[node]
        self._steps_left -= len(statements)
        if self._steps_left < 0:
            raise self.too_hard()
        return tuple(
            sorted(
                (shape, tuple([-1 if other == node else colour[other] for other in nodes]))
                for shape, nodes in statements
            )
        )

    def _refine(self, affected: set[int]) -> bool:
        """Split colours until all nodes of a colour have the same signature. Returns False if the sides differ.

        `affected` are the nodes whose signature may have changed since they got their colours.
        """
        while affected:
            groups: dict[int, dict[object, set[int]]] = {}
            for node in affected:
                groups.setdefault(self._colour[node], {}).setdefault(self._signature(node), set()).add(node)
            changed: list[int] = []
            for colour, by_signature in groups.items():
                found = sorted(by_signature.values(), key=len)
                if not all(map(self._is_balanced, found)):
                    return False
                if sum(map(len, found)) == len(self._members[colour]):
                    # The largest group keeps the colour, so that few nodes change. If some members are not affected,
                    # they keep it: their signature has no new colour, so they differ from all affected ones.
                    found.pop()
                for nodes in found:
                    self._give_new_colour(nodes)
                    changed += nodes
            affected = self._neighbours(changed)
        return True

    def _is_balanced(self, nodes: set[int]) -> bool:
        return 2 * sum(self._side[node] for node in nodes) == len(nodes)

    def _give_new_colour(self, nodes: Iterable[int]) -> None:
        new = self._next_colour
        self._next_colour += 1
        self._members[new] = set(nodes)
        for node in nodes:
            old = self._colour[node]
            self._members[old].discard(node)
            self._trail.append((node, old))
            self._colour[node] = new

    def _undo(self, mark: int) -> None:
        while len(self._trail) > mark:
            node, old = self._trail.pop()
            self._members[self._colour[node]].discard(node)
            self._colour[node] = old
            self._members[old].add(node)

    def _neighbours(self, nodes: Iterable[int]) -> set[int]:
        return {
            other for node in nodes for _shape, others in self._statements[node] for other in others if other != node
        }

    # ---- search ----

    def _solve(self, nodes: Iterable[int]) -> bool:
        """Find partners for all nodes that have several candidates."""
        waiting: dict[tuple[int, ...], list[list[int]]] = {}
        parts = list(self._parts({node for node in nodes if len(self._members[self._colour[node]]) > 2}))
        for part in parts:
            if self._side[part[0]] == 1:
                waiting.setdefault(self._colours_of(part), []).append(part)
        for part in parts:
            if self._side[part[0]] == 1:
                continue
            candidates = waiting.get(self._colours_of(part), [])
            # Nodes without undecided neighbours are interchangeable.
            places = reversed(range(len(candidates)))
            partner = next((place for place in places if len(part) == 1 or self._fits(part, candidates[place])), None)
            if partner is None:
                return False
            candidates[partner] = candidates[-1]
            candidates.pop()
        return True

    def _colours_of(self, part: list[int]) -> tuple[int, ...]:
        return tuple(sorted(self._colour[node] for node in part))

    def _parts(self, undecided: set[int]) -> Iterator[list[int]]:
        """Yield the undecided nodes in connected groups."""
        left = set(undecided)
        while left:
            part = [left.pop()]
            for node in part:
                near = self._neighbours((node,)) & left
                left -= near
                part += near
            yield part

    def _fits(self, part: list[int], other: list[int]) -> bool:
        """Return whether one part can be mapped to the other; if so, their colours define the mapping."""
        sizes = Counter(self._colour[node] for node in part)
        node = min(part, key=lambda member: (sizes[self._colour[member]], self._colour[member]))
        for partner in [member for member in other if self._colour[member] == self._colour[node]]:
            mark = len(self._trail)
            pair = (node, partner)
            self._give_new_colour(pair)
            if self._refine(self._neighbours(pair)) and self._solve([*part, *other]):
                return True
            self._undo(mark)
        return False
