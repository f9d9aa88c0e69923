"""Jelly into and out of other libraries: rdflib, pandas, Polars and pyoxigraph, against other ways to do it."""

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import peers
from ..comparison import against_peer, measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant, rates
from ..workload import Workload, first_lines

_UNIT = "statements/s"
INTO_RDFLIB = Row("jelly-to-rdflib", "Jelly → rdflib Graph", "pyjelly's plugin", _UNIT, 1.5)
FROM_RDFLIB = Row("rdflib-to-jelly", "rdflib Graph → Jelly", "pyjelly's plugin", _UNIT, 3)
PANDAS = Row("jelly-to-pandas", "Jelly → pandas", "a script on pyjelly", _UNIT, 20)
POLARS = Row("jelly-to-polars", "Jelly → Polars", "a script on pyjelly", _UNIT, 20)
PYOXIGRAPH = Row("jelly-to-pyoxigraph", "Jelly → pyoxigraph store", "its N-Triples bulk load", _UNIT, 0.8)


def _pyjelly_parse(jelly: bytes, graph: Any) -> Any:
    from pyjelly.integrations.rdflib.parse import RDFLibJellyParser
    from rdflib.parser import create_input_source

    RDFLibJellyParser().parse(create_input_source(data=jelly), graph)
    return graph


def _pyjelly_serialize(graph: Any) -> bytes:
    from pyjelly.integrations.rdflib.serialize import RDFLibJellySerializer

    sink = io.BytesIO()
    RDFLibJellySerializer(graph).serialize(sink)
    return sink.getvalue()


def _empty(workload: Workload) -> Any:
    import rdflib

    return rdflib.Dataset() if workload.dataset.quads else rdflib.Graph()


def _size(graph: Any) -> int:
    return len(list(graph.quads())) if hasattr(graph, "quads") else len(graph)


@for_each_dataset("rdflib", INTO_RDFLIB, FROM_RDFLIB)
def measure_rdflib(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    if workload.dataset.rdf_star:
        return  # neither rdflib nor pyjelly's plugin has quoted triples
    jelly = workload.peer_jelly
    graph = _pyjelly_parse(jelly, _empty(workload))
    # rdflib keeps a repeated statement once.
    distinct = _size(graph)
    if INTO_RDFLIB.name in wanted:
        ours = Contestant(lambda: _size(_empty(workload).parse(data=jelly, format="jelly")), distinct)
        peer = Contestant(lambda: _size(_pyjelly_parse(jelly, _empty(workload))), distinct)
        yield from against_peer(settings, workload.name, peer, {INTO_RDFLIB: ours}, wanted)
    if FROM_RDFLIB.name in wanted:
        ours = Contestant(lambda: distinct * bool(graph.serialize(format="jelly", encoding="utf-8")), distinct)
        peer = Contestant(lambda: distinct * bool(_pyjelly_serialize(graph)), distinct)
        yield from against_peer(settings, workload.name, peer, {FROM_RDFLIB: ours}, wanted)


def columns_by_hand(jelly: bytes, *, quads: bool) -> dict[str, list[str | None]]:
    """Return the columns that `read_pandas` makes, term by term, as a user's script would."""
    names = ("s", "p", "o", "o_kind", "o_datatype", "o_lang", *(("g",) if quads else ()))
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    for statement in peers.parse(jelly):
        value, kind, datatype, language = peers.flat_object(statement[2])
        columns["s"].append(peers.flat_value(statement[0]))
        columns["p"].append(peers.flat_value(statement[1]))
        columns["o"].append(value)
        columns["o_kind"].append(kind)
        columns["o_datatype"].append(datatype)
        columns["o_lang"].append(language)
        if quads:
            columns["g"].append(peers.flat_value(statement[3]))
    return columns


@for_each_dataset("frames", PANDAS, POLARS)
def measure_frames(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    import pandas
    import polars

    from jellyframe import read_pandas, read_polars

    quads = workload.dataset.quads
    contests = {
        PANDAS: (
            lambda: len(read_pandas(workload.jelly)),
            lambda: len(pandas.DataFrame(columns_by_hand(workload.peer_jelly, quads=quads))),
        ),
        POLARS: (
            lambda: len(read_polars(workload.jelly)),
            lambda: len(polars.DataFrame(columns_by_hand(workload.peer_jelly, quads=quads))),
        ),
    }
    for row, (ours, by_hand) in contests.items():
        if row.name in wanted:
            peer = Contestant(by_hand, workload.peer_count)
            contestants = {row: Contestant(ours, workload.statements_count)}
            yield from against_peer(settings, workload.name, peer, contestants, wanted)


@for_each_dataset("pyoxigraph", PYOXIGRAPH)
def measure_pyoxigraph(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    import pyoxigraph

    import jellyframe.pyoxigraph

    if workload.dataset.rdf_star or PYOXIGRAPH.name not in wanted:
        return  # its triple terms are not those of RDF-star
    count = workload.peer_count
    formats = pyoxigraph.RdfFormat
    with tempfile.TemporaryDirectory() as folder:
        text, jelly = Path(folder, f"data{workload.dataset.suffix}"), Path(folder, "data.jelly")
        text.write_bytes(first_lines(workload.text, count))
        jelly.write_bytes(workload.peer_jelly)

        def load_text() -> int:
            store = pyoxigraph.Store()
            store.bulk_load(path=str(text), format=formats.N_QUADS if workload.dataset.quads else formats.N_TRIPLES)
            return len(store)

        def load_jelly() -> int:
            store = pyoxigraph.Store()
            jellyframe.pyoxigraph.load(store, jelly)
            return len(store)

        distinct = load_text()
        outcomes = rates(
            {"ours": Contestant(load_jelly, distinct), "peer": Contestant(load_text, distinct)},
            settings.repeats,
            collect_garbage=settings.collect_garbage,
        )
        yield measurement(PYOXIGRAPH, workload.name, outcomes["ours"], outcomes["peer"])
