"""The parser and the serializer that rdflib finds under `jelly` and `application/x-jelly-rdf`."""

from __future__ import annotations

import io
from typing import IO, Unpack

from rdflib.graph import Graph, QuotedGraph
from rdflib.parser import InputSource, Parser
from rdflib.serializer import Serializer

from jellyframe.defaults import DEFAULT_RESTART_EVERY
from jellyframe.errors import EncodeError, ParseError
from jellyframe.integrations.rdflib_graphs import GraphFiller
from jellyframe.integrations.rdflib_nodes import BlankNodes, NodeMaker
from jellyframe.integrations.rdflib_streams import write_graphs
from jellyframe.options import DialectName, Limits, StreamOptions
from jellyframe.storage.types import Source
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import WriterSettings


class JellyParser(Parser):
    """Reads Jelly into graphs and datasets: `Graph().parse("x.jelly")`."""

    def parse(
        self,
        source: InputSource,
        sink: Graph,
        *,
        bnode_context: BlankNodes | None = None,
        skolemize: bool = False,
        limits: Limits | None = None,
        concatenated: bool = False,
        dialect: DialectName = "released",
    ) -> None:
        """Add the statements and the namespaces of a Jelly stream to a graph or a dataset.

        Args:
            source: the source that rdflib has opened
            sink: the graph; statements in named graphs need a dataset
            bnode_context: the blank nodes for labels, as in rdflib's N-Quads parser; by default each source has
                its own
            skolemize: whether blank nodes become IRIs
            limits: the limits for untrusted input
            concatenated: whether every options row begins a new stream
            dialect: `released`, or `draft` for the draft of the format

        Raises:
            NamedGraphError: if a statement is in a named graph and the sink is not a dataset
        """
        nodes = NodeMaker({} if bnode_context is None else bnode_context, skolemize=skolemize)
        filler = GraphFiller(sink, nodes)
        stream = byte_stream(source)
        with open_reader(stream, limits=limits, concatenated=concatenated, dialect=dialect) as reader:
            for batch in reader.batches():
                for declaration in batch.namespaces:
                    filler.bind(declaration.name, declaration.iri)
                filler.add(batch)


def byte_stream(source: InputSource) -> Source:
    """Return the byte stream of a source that rdflib has opened."""
    stream: Source | None = source.getByteStream()
    if stream is None or isinstance(stream, io.TextIOBase):
        raise ParseError("Jelly is binary, and rdflib got text: open the file with mode 'rb', or pass bytes as data")
    return stream


class JellySerializer(Serializer):
    """Writes graphs and datasets as Jelly: `graph.serialize("x.jelly", format="jelly")`."""

    def __init__(self, store: Graph) -> None:
        if isinstance(store, QuotedGraph):
            raise EncodeError("a formula of N3 has no place in Jelly")
        super().__init__(store)

    def serialize(  # type: ignore[override]
        self,
        stream: IO[bytes],
        base: str | None = None,
        encoding: str | None = None,
        *,
        options: StreamOptions | None = None,
        namespaces: bool = True,
        **settings: Unpack[WriterSettings],
    ) -> None:
        """Write the graph to a binary file object.

        Args:
            stream: the binary output stream
            base: not used: Jelly has no relative IRIs
            encoding: not used, as Jelly is binary; `Graph.serialize` without a destination needs one to return bytes
            options: the options of the stream
            namespaces: whether to declare the prefixes that are bound; rdflib's default ones only if they are used
            settings: as in `open_writer`; by default there are restart points every 8 MiB
        """
        if (options is None or not options.logical_type.is_grouped) and settings.get("delimited", True):
            settings.setdefault("restart_every", DEFAULT_RESTART_EVERY)
        write_graphs(self.store, stream, options, namespaces=namespaces, **settings)
