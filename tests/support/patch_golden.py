"""Small streams of patches, made by hand out of protobuf messages, row by row; `tests/patch/golden` has them as files.

`python -m support.patch_golden` in `tests` writes the streams anew. The texts beside them are written by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.patch_streams import (
    ABORT,
    COMMIT,
    EX,
    FLAT,
    FRAME,
    MARK,
    PUNCTUATED,
    QUADS,
    START,
    TRIPLES,
    add,
    datatype,
    delete,
    delimited,
    frame,
    header,
    iri,
    literal,
    name,
    namespace,
    options,
    prefix,
    quoted,
    row,
)

FOLDER = Path(__file__).parents[1] / "patch" / "golden"
_STAR = {"rdf_star": True}
_IDENTIFIED = (prefix("urn:uuid:"), name("1"), header(key="id", h_iri=iri(1, 1)))
# Names 2 to 6, prefix 2.
_ENTRIES = (prefix(EX), name("alice", 2), name("name"), name("knows"), name("g"), name(""))
_TYPE = datatype("http://www.w3.org/2001/XMLSchema#integer")


def _first_rows(graph: dict[str, Any]) -> tuple[Any, ...]:
    """A header, a transaction that deletes, adds and repeats, and namespaces."""
    return (
        *_IDENTIFIED,
        header(key="two words", h_literal=literal("né", langtag="fr")),
        START,
        *_ENTRIES,
        row(namespace_add=namespace(name="ex", value=iri(6, 2), **({} if not graph else {"g_default_graph": True}))),
        delete(s_iri=iri(2), p_iri=iri(), o_literal=literal("Alice"), **graph),
        add(o_literal=literal("line\nend")),
        _TYPE,
        add(o_literal=literal("5", datatype=1)),
        add(p_iri=iri(4), o_bnode="b"),
        COMMIT,
    )


def _second_rows() -> tuple[Any, ...]:
    """A transaction that comes to nothing, with a quoted triple, and a namespace that goes."""
    return (
        header(key="prev", h_iri=iri(1, 1)),
        START,
        add(s_triple_term=quoted(s_iri=iri(2, 2), p_iri=iri(), o_bnode="b"), p_iri=iri(3), o_iri=iri()),
        row(namespace_delete=namespace(name="ex")),
        ABORT,
    )


def _streams() -> dict[str, bytes]:
    made = {}
    for kind, statement_type in (("triples", TRIPLES), ("quads", QUADS)):
        graph = {"g_iri": iri(5)} if statement_type == QUADS else {}
        first = _first_rows(graph)
        made[f"frame-{kind}"] = delimited(
            frame(options(statement_type, FRAME, **_STAR), *first), frame(), frame(*_second_rows())
        )
        made[f"flat-{kind}"] = delimited(
            frame(options(statement_type, FLAT, **_STAR), *first[:7]), frame(*first[7:]), frame(*_second_rows())
        )
        made[f"punctuated-{kind}"] = delimited(
            frame(options(statement_type, PUNCTUATED, **_STAR), *first[:9]),
            frame(*first[9:], MARK),
            frame(MARK),
            frame(*_second_rows(), MARK),
        )
    made["bare"] = frame(options(TRIPLES, FLAT, **_STAR), *_first_rows({}), *_second_rows())
    made["broken-nested-transaction"] = delimited(frame(options(TRIPLES, FLAT), START, START, COMMIT, COMMIT))
    made["broken-unended-transaction"] = delimited(frame(options(TRIPLES, PUNCTUATED), START, MARK, COMMIT))
    made["broken-repeat-at-start"] = delimited(frame(options(QUADS, FLAT), prefix(EX), name("a"), add(s_iri=iri(1, 1))))
    return made


STREAMS = _streams()

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for stream_name, data in STREAMS.items():
        (FOLDER / f"{stream_name}.jellyp").write_bytes(data)
