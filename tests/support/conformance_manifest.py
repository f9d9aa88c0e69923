"""The manifests of the public Jelly test suite: where they are, and their entries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pyoxigraph as ox

_MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_VOCABULARY = "https://w3id.org/jelly/dev/tests/vocab#"

# Some editions of the manifests use a prefix that they do not declare. Declaring one twice is harmless.
_COMMON_PREFIXES = b"""\
PREFIX jellyt: <https://w3id.org/jelly/dev/tests/vocab#>
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdft: <http://www.w3.org/ns/rdftest#>
"""

# Where an IRI without BASE would lead. Only used to tell the manifest's folder from the rest of the IRI.
_FALLBACK_BASE = "https://w3id.org/jelly/dev/tests/rdf/"


@dataclass(frozen=True)
class Entry:
    iri: str
    name: str
    positive: bool
    action: tuple[Path, ...]
    result: tuple[Path, ...]
    requires: frozenset[str]

    @property
    def id(self) -> str:
        """The last two segments of the IRI, which say the kind of stream and the number of the test."""
        return "/".join(self.iri.rsplit("/", 2)[-2:])


def suite_folder() -> Path | None:
    """The folder that holds `from_jelly` and `to_jelly`: $JELLY_CONFORMANCE, or one beside the project."""
    configured = os.environ.get("JELLY_CONFORMANCE")
    folder = Path(configured) if configured else Path(__file__).parents[3] / "shared" / "conformance"
    return folder if folder.is_dir() else None


def read_entries(manifest: Path) -> list[Entry]:
    """The entries of one manifest, in its order."""
    return _Manifest(manifest).entries()


# What has a value: all that manifests are made of.
_Node: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal


def _node(term: _Node | ox.Triple) -> _Node:
    if isinstance(term, ox.Triple):
        raise ValueError(f"{term} has no place in a manifest")
    return term


class _Manifest:
    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.store = ox.Store()
        text = _COMMON_PREFIXES + path.read_bytes()
        base = f"{_FALLBACK_BASE}{self.folder.name}/"
        self.store.load(text, format=ox.RdfFormat.TURTLE, base_iri=base)

    def entries(self) -> list[Entry]:
        found = []
        for quad in self.store.quads_for_pattern(None, ox.NamedNode(_MF + "entries"), None):
            # The manifest's own IRI stands in its folder, so what it shares with a file's IRI is that folder.
            self.base = _node(quad.subject).value.rpartition("/")[0] + "/"
            found += [self._entry(node) for node in self._list(_node(quad.object))]
        return found

    def _entry(self, node: _Node) -> Entry:
        types = {self._local(kind) for kind in self._objects(node, _RDF + "type")}
        if ("TestPositive" in types) == ("TestNegative" in types):
            raise ValueError(f"{node.value} is neither a positive nor a negative test")
        names = [name.value for name in self._objects(node, _MF + "name")]
        return Entry(
            iri=node.value,
            name=" ".join(names),
            positive="TestPositive" in types,
            action=self._files(node, "action"),
            result=self._files(node, "result"),
            requires=frozenset(self._local(need) for need in self._objects(node, _MF + "requires")),
        )

    def _objects(self, subject: _Node, predicate: str) -> list[_Node]:
        assert not isinstance(subject, ox.Literal)
        return [_node(quad.object) for quad in self.store.quads_for_pattern(subject, ox.NamedNode(predicate), None)]

    def _local(self, node: _Node) -> str:
        return str(node.value).removeprefix(_VOCABULARY)

    def _list(self, node: _Node) -> list[_Node]:
        """The members of an RDF list; a node that is no list stands for itself."""
        if not self._objects(node, _RDF + "first") and node.value != _RDF + "nil":
            return [node]
        members = []
        while node.value != _RDF + "nil":
            members += self._objects(node, _RDF + "first")
            (node,) = self._objects(node, _RDF + "rest")
        return members

    def _files(self, node: _Node, role: str) -> tuple[Path, ...]:
        members = [file for value in self._objects(node, _MF + role) for file in self._list(value)]
        return tuple(self.folder / self._relative(file.value) for file in members)

    def _relative(self, iri: str) -> str:
        if not iri.startswith(self.base):
            raise ValueError(f"{iri} is not below {self.base}")
        return iri.removeprefix(self.base)
