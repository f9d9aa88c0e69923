"""N-Triples and N-Quads text into Jelly, against pyoxigraph parsing the text and doing nothing else.

pyoxigraph reads RDF 1.2 and refuses `<< … >>`. For the data set `star` it gets the same facts with reifiers,
and because those are other statements, and more of them, rates are in bytes of text.
"""

import io
from collections.abc import Iterator

from .. import peers
from ..comparison import against_peer
from ..datasets import STAR_REIFIED
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant
from ..workload import Workload

TO_JELLY = Row("ntriples-to-jelly", "N-Triples text → Jelly", "pyoxigraph parse alone", "MB/s", 3)


@for_each_dataset("text", TO_JELLY)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    text, statements = workload.text, workload.statements_count

    def to_jelly() -> int:
        from jellyframe import open_writer
        from jellyframe.formats import ntriples

        written = 0
        with open_writer(io.BytesIO(), workload.options, frame_rows=peers.FRAME_ROWS) as writer:
            for batch in ntriples.read(text, quads=workload.dataset.quads):
                writer.write_batch(batch)
                written += len(batch)
        return written

    peer_text = STAR_REIFIED.text(statements) if workload.dataset.rdf_star else text
    peer = Contestant(
        lambda: peers.parse_text(peer_text, quads=workload.dataset.quads), statements, len(peer_text) / 1e6
    )
    ours = {TO_JELLY: Contestant(to_jelly, statements, len(text) / 1e6)}
    yield from against_peer(settings, workload.name, peer, ours, wanted)
