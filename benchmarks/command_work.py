"""What the processes do that the command line is measured against: scripts as one writes them. Run as a module."""

import sys
from collections.abc import Iterator
from typing import Any


def to_jelly(text_path: str, jelly_path: str) -> None:
    """N-Triples with pyoxigraph, Jelly with pyjelly."""
    import pyoxigraph
    from pyjelly.integrations.generic.generic_sink import IRI, BlankNode, Literal, Triple
    from pyjelly.integrations.generic.serialize import flat_stream_to_file

    from . import peers

    def term(theirs: Any) -> Any:
        if isinstance(theirs, pyoxigraph.NamedNode):
            return IRI(theirs.value)
        if isinstance(theirs, pyoxigraph.BlankNode):
            return BlankNode(theirs.value)
        if theirs.language is not None:
            return Literal(theirs.value, theirs.language)
        return Literal(theirs.value, None, theirs.datatype.value)

    def triples() -> Iterator[Triple]:
        for quad in pyoxigraph.parse(path=text_path, format=pyoxigraph.RdfFormat.N_TRIPLES):
            yield Triple(term(quad.subject), term(quad.predicate), term(quad.object))

    with open(jelly_path, "wb") as sink:
        flat_stream_to_file(triples(), sink, peers.options(quads=False, rdf_star=False))


def from_jelly(jelly_path: str, text_path: str) -> None:
    """Jelly with pyjelly, lines by formatting the terms, which does not even escape anything."""
    from pyjelly.integrations.generic.parse import parse_jelly_flat

    with open(jelly_path, "rb") as source, open(text_path, "w") as sink:
        for triple in parse_jelly_flat(source):
            sink.write(f"{triple.s} {triple.p} {triple.o} .\n")


def decode(jelly_path: str) -> None:
    """Decoding alone: batches that nobody looks at."""
    from jellyframe import open_reader

    with open_reader(jelly_path) as reader:
        for _batch in reader.batches():
            pass


if __name__ == "__main__":
    work, *arguments = sys.argv[1:]
    {"to-jelly": to_jelly, "from-jelly": from_jelly, "decode": decode}[work](*arguments)
