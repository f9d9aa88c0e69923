"""The scripts that the command line is measured against, as users write them. Run as a module."""

import sys
from collections.abc import Callable


def to_jelly(text_path: str, jelly_path: str) -> None:
    """Convert N-Triples to Jelly: parsed with pyoxigraph, written with pyjelly."""
    import pyoxigraph
    from pyjelly.integrations.generic.serialize import flat_stream_to_file

    from . import peers

    quads = pyoxigraph.parse(path=text_path, format=pyoxigraph.RdfFormat.N_TRIPLES)
    with open(jelly_path, "wb") as sink:
        flat_stream_to_file(peers.triples_of(quads), sink, peers.options(quads=False, rdf_star=False))


def from_jelly(jelly_path: str, text_path: str) -> None:
    """Convert Jelly to lines: parsed with pyjelly, terms formatted without any escapes."""
    from pyjelly.integrations.generic.parse import parse_jelly_flat

    with open(jelly_path, "rb") as source, open(text_path, "w") as sink:
        for triple in parse_jelly_flat(source):
            sink.write(f"{triple.s} {triple.p} {triple.o} .\n")


def decode(*jelly_paths: str) -> None:
    """Decode files into batches, and drop them."""
    from jellyframe import open_reader

    for path in jelly_paths:
        with open_reader(path) as reader:
            for _batch in reader.batches():
                pass


if __name__ == "__main__":
    work, *arguments = sys.argv[1:]
    works: dict[str, Callable[..., None]] = {"to-jelly": to_jelly, "from-jelly": from_jelly, "decode": decode}
    works[work](*arguments)
