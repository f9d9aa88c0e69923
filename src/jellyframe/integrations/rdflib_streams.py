"""Streams of Jelly as graphs, datasets and statements of rdflib, and back.

A grouped stream has a graph, or a dataset, in each frame: `read_graphs` yields them one by one. `read_statements`
yields the statements of any stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias, Unpack

from rdflib.graph import ConjunctiveGraph, Dataset, Graph

from jellyframe.batch.frames import Frame
from jellyframe.dialects import dialect_named
from jellyframe.errors import EncodeError, OptionsError
from jellyframe.integrations.rdflib_graphs import GraphFiller, batches_of_graph, own_namespaces, used_namespaces
from jellyframe.integrations.rdflib_nodes import BlankNodes, NodeMaker, batches_of_nodes
from jellyframe.integrations.rdflib_terms import graph_from_rdflib
from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
from jellyframe.options import VERSION_1_0, VERSION_1_1, DialectName, Limits, LogicalType, StreamOptions
from jellyframe.storage.types import FileSystem, Sink, Source
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import JellyWriter, WriterSettings, open_writer

# A statement of rdflib: three nodes, or four, of which the last is the name of a graph, None for the default graph.
NodeStatement: TypeAlias = tuple[Any, ...]
_NAMED_GRAPHS = (LogicalType.NAMED_GRAPHS, LogicalType.TIMESTAMPED_NAMED_GRAPHS)


def read_graphs(
    source: Source,
    *,
    graph: Callable[[], Graph] = Graph,
    dataset: Callable[[], Dataset] = Dataset,
    bnode_context: BlankNodes | None = None,
    limits: Limits | None = None,
    concatenated: bool = False,
    filesystem: FileSystem | None = None,
    dialect: DialectName = "released",
) -> Iterator[Graph]:
    """Yield the graphs of a grouped stream or, if it has quads, its datasets: one for each frame.

    Args:
        source: as in `open_reader`
        graph: makes the graphs
        dataset: makes the datasets
        bnode_context: the blank nodes for labels; all graphs of a stream share them
        limits: the limits for untrusted input
        concatenated: whether every options row begins a new stream
        filesystem: a file system of pyarrow or fsspec, if the source is a path in it
        dialect: `released`, or `draft` for the draft of the format

    Raises:
        OptionsError: if the stream is flat, so that its frames are not graphs
    """
    nodes = NodeMaker({} if bnode_context is None else bnode_context)
    with open_reader(
        source, limits=limits, concatenated=concatenated, filesystem=filesystem, dialect=dialect
    ) as reader:
        logical = reader.options.logical_type
        if logical is not LogicalType.UNSPECIFIED and not logical.is_grouped:
            raise OptionsError(
                f"the stream is flat ({logical.name}), so its frames are not graphs: use read_statements, or parse it "
                "into one graph",
                source=reader.source_name,
            )
        make = dataset if reader.options.has_graph else graph
        for frame in reader.frames():
            made = make()
            _fill(made, frame, nodes)
            yield made


def _fill(sink: Graph, frame: Frame, nodes: NodeMaker) -> None:
    filler = GraphFiller(sink, nodes)
    for name, iri in frame.namespaces:
        filler.bind(name, iri)
    for batch, start, stop in frame.parts():
        filler.add(batch, start, stop)


def read_statements(
    source: Source,
    *,
    bnode_context: BlankNodes | None = None,
    limits: Limits | None = None,
    concatenated: bool = False,
    filesystem: FileSystem | None = None,
    dialect: DialectName = "released",
) -> Iterator[NodeStatement]:
    """Yield the statements of a stream as tuples of rdflib nodes.

    Quads have the name of the graph as fourth element, None for the default graph, as in `Dataset.quads`.

    Args:
        source: as in `open_reader`
        bnode_context: the blank nodes for labels
        limits: the limits for untrusted input
        concatenated: whether every options row begins a new stream
        filesystem: a file system of pyarrow or fsspec, if the source is a path in it
        dialect: `released`, or `draft` for the draft of the format
    """
    nodes = NodeMaker({} if bnode_context is None else bnode_context)
    with open_reader(
        source, limits=limits, concatenated=concatenated, filesystem=filesystem, dialect=dialect
    ) as reader:
        for batch in reader.batches():
            triples = nodes.triples(batch, 0, len(batch))
            if batch.g is None:
                yield from triples
                continue
            kinds = batch.terms.buffers()[0]
            for (s, p, o), g in zip(triples, batch.g, strict=True):
                yield s, p, o, None if kinds[g] == KIND_DEFAULT_GRAPH else nodes.node(batch, g)


def write_graphs(
    graphs: Graph | Iterable[Graph],
    sink: Sink,
    options: StreamOptions | None = None,
    *,
    namespaces: bool = True,
    **settings: Unpack[WriterSettings],
) -> None:
    """Write a graph or a dataset as a flat stream, or several of them as a grouped stream, each in a frame.

    Args:
        graphs: one graph or dataset, or an iterable of graphs or of datasets
        sink: as in `open_writer`
        options: the options of the stream
        namespaces: whether to declare the prefixes that are bound; rdflib's default ones only if they are used
        settings: as in `open_writer`

    Raises:
        EncodeError: if graphs and datasets are mixed
    """
    given = StreamOptions() if options is None else options
    has_version_1_1 = dialect_named(settings.get("dialect", "released")).has_version_1_1
    namespaces = namespaces and has_version_1_1 and given.version != VERSION_1_0
    if namespaces:
        given = given.replace(version=VERSION_1_1)
    if isinstance(graphs, Graph):
        has_graph = isinstance(graphs, ConjunctiveGraph)
        with open_writer(sink, given.resolved(has_graph=has_graph), **settings) as writer:
            _GraphWriter(writer, namespaces=namespaces).write(graphs)
        return
    each = iter(graphs)
    first = next(each, None)
    has_graph = isinstance(first, ConjunctiveGraph)
    if given.logical_type is LogicalType.UNSPECIFIED:
        given = given.replace(logical_type=LogicalType.DATASETS if has_graph else LogicalType.GRAPHS)
    with open_writer(sink, given.resolved(has_graph=has_graph), **settings) as writer:
        elements = _GraphWriter(writer, namespaces=namespaces)
        for graph in () if first is None else chain([first], each):
            if isinstance(graph, ConjunctiveGraph) != has_graph:
                raise EncodeError("graphs and datasets are mixed: a stream has frames of one kind")
            elements.write(graph)
            if given.logical_type not in _NAMED_GRAPHS:
                writer.end_frame()


class _GraphWriter:
    """Writes graphs to a stream, and declares each namespace once."""

    def __init__(self, writer: JellyWriter, *, namespaces: bool) -> None:
        self._writer = writer
        self._declares = namespaces
        self._declared: dict[str, str] = {}

    def write(self, graph: Graph) -> None:
        """Write the statements of a graph. In a stream of named graphs, each named graph is a frame."""
        options = self._writer.options
        one_graph_a_frame = options is not None and options.logical_type in _NAMED_GRAPHS
        self._declare(own_namespaces(graph))
        for batches in batches_of_graph(graph, each_apart=one_graph_a_frame):
            for batch in batches:
                if self._declares:
                    self._declare(used_namespaces(batch, self._declared))
                self._writer.write_batch(batch)
            if one_graph_a_frame:
                self._writer.end_frame()

    def _declare(self, namespaces: dict[str, str]) -> None:
        for name, iri in namespaces.items() if self._declares else ():
            if self._declared.get(name) != iri:
                self._writer.declare_namespace(name, iri)
                self._declared[name] = iri


def write_statements(
    statements: Iterable[NodeStatement],
    sink: Sink,
    options: StreamOptions | None = None,
    **settings: Unpack[WriterSettings],
) -> None:
    """Write statements of rdflib as a flat stream, in their order.

    Args:
        statements: tuples of three nodes, or of four: the last is a graph or its name, None for the default graph
        sink: as in `open_writer`
        options: the options of the stream
        settings: as in `open_writer`
    """
    with open_writer(sink, options, **settings) as writer:
        for batch in batches_of_nodes(map(_with_graph_name, statements)):
            writer.write_batch(batch)


def _with_graph_name(statement: NodeStatement) -> NodeStatement:
    return statement if len(statement) != 4 else (*statement[:3], graph_from_rdflib(statement[3]))
