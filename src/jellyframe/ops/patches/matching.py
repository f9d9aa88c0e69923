"""Pair blank nodes of two data sets by the statements about them, regardless of their labels.

Nodes are coloured: at first all the same, then, in rounds, by their statements and the colours of the other nodes in
them. Two nodes of the two data sets that are the only ones with their colour are partners. Then their neighbours: nodes
at the same position of statements whose other nodes are partners are partners, too. Nodes that cannot be distinguished
are paired in their order. Nodes that have no partner then, because the data sets differ, are paired by the colours of
earlier rounds, which depend on fewer statements, and by single statements that only one node on each side has.

Any pairing gives a correct patch: it only decides how small the patch is. So the work is limited, hashes may be
short, and nothing is tried twice.
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Final

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints, bucket_records, mask_of_bits, mask_of_blank_nodes
from jellyframe.kernel.fingerprint_table_cy import FingerprintTable
from jellyframe.kernel.kinds import KIND_BLANK_NODE
from jellyframe.kernel.node_uses_cy import node_uses, refined_colours, relabelled
from jellyframe.kernel.rows_cy import take_ints
from jellyframe.ops.patches.core import Stream

MAX_ROUNDS: Final = 16
MAX_PASSES: Final = 100
# A fixed key, so that all runs pair the same nodes.
_KEY: Final = bytes(16)
_ONE_OF_MANY: Final = -1


def matched_stream(old: Stream, new: Stream) -> Stream:
    """Return the new stream with the labels of the old one for nodes with partners, and unused labels for others."""
    sides = (_Side(old), _Side(new))
    names = _labels(sides, _Pairing(sides).run())
    if not names:
        return new

    def batches() -> Iterator[Batch]:
        for batch in new():
            labels = {term: names[label] for term, label in _blank_nodes(batch) if label in names}
            if not labels:
                yield batch
                continue
            terms = relabelled(batch.terms, labels)
            g = None if batch.g is None else take_ints(terms, batch.g)
            columns = (take_ints(terms, batch.s), take_ints(terms, batch.p), take_ints(terms, batch.o), g)
            yield batch.replace(columns=columns)

    return batches


def _labels(sides: tuple[_Side, _Side], partners: Iterable[int]) -> dict[str, bytes]:
    """Return the new labels of nodes of the second side whose label changes."""
    old_labels = list(sides[0].nodes)
    names: dict[str, bytes] = {}
    for label, partner in zip(sides[1].nodes, partners, strict=True):
        name = label
        if partner >= 0:
            name = old_labels[partner]
        elif label in sides[0].nodes:
            number = 0
            while name in sides[0].nodes or name in sides[1].nodes:
                number += 1
                name = f"{label}-{number}"
        if name != label:
            names[label] = name.encode("utf-8", "surrogatepass")
    return names


def _blank_nodes(batch: Batch) -> Iterator[tuple[int, str]]:
    """Yield the terms of a batch that are blank nodes, with their labels."""
    kinds = bytes(batch.terms.buffers()[0])
    term = kinds.find(KIND_BLANK_NODE)
    while term >= 0:
        yield term, batch.terms.values.string(term)
        term = kinds.find(KIND_BLANK_NODE, term + 1)


class _Side:
    """The distinct statements of one data set with blank nodes, as numbers."""

    def __init__(self, stream: Stream) -> None:
        # The number of each node, by its label.
        self.nodes: dict[str, int] = {}
        # For all statements: alternating positions and nodes, the end of those of each, and a hash of its other terms.
        self.uses = array("Q")
        self.ends = array("q")
        self.patterns = array("Q")
        self._statements_of: list[array[int]] = []
        prints = array("Q")
        fingerprints = Fingerprints(_KEY)
        for batch in stream():
            mask = mask_of_blank_nodes(batch.columns, batch.terms)
            if mask is None:
                continue
            chosen = batch.filter(memoryview(mask)[: len(batch)])
            numbers = array("i", bytes(4 * batch.terms.count))
            for term, label in _blank_nodes(batch):
                numbers[term] = self.nodes.setdefault(label, len(self.nodes))
            prints.frombytes(fingerprints.of_statements(chosen.columns, chosen.terms).cast("B"))
            hashes = fingerprints.of_terms(chosen.terms, True)
            node_uses(chosen.columns, chosen.terms, hashes, numbers, self.uses, self.patterns, self.ends)
        self._drop_repeated(prints)
        self._index()
        self.colours = [memoryview(bytes(8 * len(self.nodes))).cast("Q")]

    def _drop_repeated(self, prints: array[int]) -> None:
        count = len(self.patterns)
        if count == 0:
            return
        table = FingerprintTable(count)
        records, _ends = bucket_records(memoryview(prints), None, 0, 0)
        first = bytearray(count // 8 + 1)
        if table.compare(records, first) == count:
            return
        mask = mask_of_bits(first, 0, count)
        uses, ends, patterns = array("Q"), array("q"), array("Q")
        start = 0
        for statement, end in enumerate(self.ends):
            if mask[statement]:
                uses += self.uses[2 * start : 2 * end]
                ends.append(len(uses) // 2)
                patterns.append(self.patterns[statement])
            start = end
        self.uses, self.ends, self.patterns = uses, ends, patterns

    def _index(self) -> None:
        self._statements_of = [array("q") for _ in self.nodes]
        start = 0
        for statement, end in enumerate(self.ends):
            for node in {self.uses[2 * use + 1] for use in range(start, end)}:
                self._statements_of[node].append(statement)
            start = end

    def refine(self) -> None:
        """Add the colours of another round."""
        self.colours.append(
            refined_colours(self.colours[-1], memoryview(self.uses), memoryview(self.patterns), memoryview(self.ends))
        )

    def colour_count(self) -> int:
        return len(set(self.colours[-1]))

    def statements(self, node: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield the statements of a node: a hash of their other terms, and their positions and nodes."""
        for statement in self._statements_of[node]:
            start = self.ends[statement - 1] if statement else 0
            flat = self.uses[2 * start : 2 * self.ends[statement]]
            yield self.patterns[statement], list(zip(flat[::2], flat[1::2], strict=True))


class _Pairing:
    """Finds partners for the nodes of the second side among those of the first."""

    def __init__(self, sides: tuple[_Side, _Side]) -> None:
        self._sides = sides
        self._partners = [array("q", [-1]) * len(side.nodes) for side in sides]
        self._rounds = 0
        # Whether neighbours must have the same colour.
        self._by_colour = True

    def run(self) -> array[int]:
        """Return the partner of each node of the second side, or -1 if it has none."""
        if all(self._partners):
            self._colour()
            self._pair_by_colour(self._rounds, only_single=True)
            self._pair_by_colour(self._rounds, only_single=False)
            for level in range(self._rounds - 1, 0, -1):
                self._pair_by_colour(level, only_single=True)
            self._by_colour = False
            for _ in range(MAX_PASSES):
                if not self._pair_by_statements():
                    break
        return self._partners[1]

    def _colour(self) -> None:
        count = 0
        for _ in range(MAX_ROUNDS):
            for side in self._sides:
                side.refine()
            self._rounds += 1
            found = sum(side.colour_count() for side in self._sides)
            if found == count:
                return
            count = found

    def _unpaired(self, side: int) -> Iterator[int]:
        return (node for node, partner in enumerate(self._partners[side]) if partner < 0)

    def _pair_by_colour(self, level: int, *, only_single: bool) -> None:
        """Pair nodes with the same colour: only unique ones, or also, in their order, several."""
        theirs: dict[int, deque[int]] = {}
        colours = self._sides[1].colours[level]
        for node in self._unpaired(1):
            theirs.setdefault(colours[node], deque()).append(node)
        colours = self._sides[0].colours[level]
        counts = Counter(colours[node] for node in self._unpaired(0))
        for node in list(self._unpaired(0)):
            candidates = theirs.get(colours[node])
            if candidates is None or (only_single and (len(candidates) > 1 or counts[colours[node]] > 1)):
                continue
            # Some may have been paired as neighbours of others.
            while candidates and self._partners[1][candidates[0]] >= 0:
                candidates.popleft()
            if candidates and self._partners[0][node] < 0:
                self._pair(node, candidates.popleft())

    def _pair(self, one: int, other: int) -> None:
        """Make two nodes partners, and then their neighbours that are unique candidates."""
        waiting = deque([(one, other)])
        while waiting:
            one, other = waiting.popleft()
            if self._partners[0][one] >= 0 or self._partners[1][other] >= 0:
                continue
            self._partners[0][one] = other
            self._partners[1][other] = one
            theirs = self._open_neighbours(1, other)
            for key, nodes in self._open_neighbours(0, one).items():
                if len(nodes) == 1 and len(theirs.get(key, ())) == 1:
                    waiting.append((nodes[0], theirs[key][0]))

    def _open_neighbours(self, side: int, node: int) -> dict[tuple[int, int, int], list[int]]:
        """Return neighbours that are the only unpaired node of a statement, by statement, position and colour."""
        found: dict[tuple[int, int, int], list[int]] = {}
        colours = self._sides[side].colours[self._rounds]
        for pattern, uses in self._sides[side].statements(node):
            for place, neighbour in uses:
                if self._partners[side][neighbour] < 0:
                    key = self._key(side, neighbour, pattern, uses)
                    if key is not None:
                        nodes = found.setdefault((key, place, colours[neighbour] if self._by_colour else 0), [])
                        if neighbour not in nodes[-1:]:
                            nodes.append(neighbour)
        return found

    def _key(self, side: int, node: int, pattern: int, uses: list[tuple[int, int]]) -> int | None:
        """Return a key for a statement in which all other nodes have partners, equal on both sides; otherwise None."""
        key = pattern
        for place, other in uses:
            if other == node:
                key ^= hash((place, _ONE_OF_MANY))
                continue
            partner = self._partners[side][other]
            if partner < 0:
                return None
            key ^= hash((place, other if side == 0 else partner))
        return key

    def _pair_by_statements(self) -> bool:
        """Pair nodes that are the only ones with a statement, most statements first. Return whether there are any."""
        told: tuple[dict[int, int], dict[int, int]] = ({}, {})
        for side in (0, 1):
            for node in self._unpaired(side):
                for pattern, uses in self._sides[side].statements(node):
                    key = self._key(side, node, pattern, uses)
                    if key is not None:
                        told[side][key] = node if told[side].get(key, node) == node else _ONE_OF_MANY
        votes: Counter[tuple[int, int]] = Counter()
        for key, node in told[0].items():
            other = told[1].get(key, _ONE_OF_MANY)
            if node != _ONE_OF_MANY and other != _ONE_OF_MANY:
                votes[node, other] += 1
        before = sum(1 for _ in self._unpaired(0))
        for (node, other), _count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
            if self._partners[0][node] < 0 and self._partners[1][other] < 0:
                self._pair(node, other)
        return sum(1 for _ in self._unpaired(0)) < before
