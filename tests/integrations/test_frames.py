"""Statements as data frames, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyoxigraph
import pytest

import jellyframe
import jellyframe.pyoxigraph
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from jellyframe.errors import MissingPackageError, TableError

A, B, P, Q, G = (IRI(f"http://example.org/{name}") for name in "abpqg")
TRIPLES = [
    Triple(A, P, B),
    Triple(A, Q, Literal("Ada", language="en")),
    Triple(BlankNode("x"), Q, Literal("5", datatype="http://www.w3.org/2001/XMLSchema#integer")),
    Triple(B, P, Literal("plain")),
]
QUADS = [Quad(*triple, G if number % 2 else DEFAULT_GRAPH) for number, triple in enumerate(TRIPLES)]
LAYOUTS = ("flat", "ntriples", "struct")


@pytest.fixture(params=[TRIPLES, QUADS], ids=["triples", "quads"])
def statements(request):
    return request.param


@pytest.fixture
def path(tmp_path: Path, statements) -> Path:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write(statements)
    return tmp_path / "x.jelly"


def written(frame, folder: Path, **options) -> list:
    jellyframe.write_table(frame, folder / "back.jelly", **options)
    with jellyframe.open_reader(folder / "back.jelly") as reader:
        return list(reader)


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pandas_frames_survive_a_round_trip(path: Path, statements, layout, dictionary: bool, tmp_path: Path) -> None:
    frame = jellyframe.read_pandas(path, layout, dictionary=dictionary)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 4
    if layout == "struct":
        return  # pandas has no column type for it: dicts
    assert isinstance(frame["p"].dtype, pd.CategoricalDtype) == dictionary
    assert written(frame, tmp_path, layout=layout) == statements


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_polars_frames_survive_a_round_trip(path: Path, statements, layout, dictionary: bool, tmp_path: Path) -> None:
    frame = jellyframe.read_polars(path, layout, dictionary=dictionary)
    assert written(frame, tmp_path, layout=layout) == statements
    if layout != "struct":
        assert (frame.schema["p"] == pl.Categorical) == dictionary
    lazy = jellyframe.scan_polars(path, layout, dictionary=dictionary).collect()
    assert written(lazy, tmp_path, layout=layout) == statements
    assert lazy.schema == frame.schema


@pytest.mark.parametrize("layout", LAYOUTS)
def test_duckdb_relations_survive_a_round_trip(path: Path, statements, layout, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        relation = jellyframe.read_duckdb(path, layout, connection=connection)
        for _ in range(2):
            assert relation.count("*").fetchall() == [(4,)]
        assert written(relation, tmp_path, layout=layout) == statements


def test_duckdb_finds_tables_by_the_name_of_a_variable(path: Path) -> None:
    people = jellyframe.open_table(path)
    with duckdb.connect() as connection:
        for _ in range(2):
            rows = connection.sql("SELECT p, count(*) FROM people GROUP BY p ORDER BY p").fetchall()
            assert rows == [(P.value, 2), (Q.value, 2)]
    assert people.reader().read_all().num_rows == 4


def test_filters_columns_and_sources_of_every_kind(path: Path) -> None:
    frame = jellyframe.read_pandas(path, columns=["o"], predicates=Q)
    assert frame["o"].tolist() == ["Ada", "5"]
    assert list(frame) == ["o"]
    assert len(jellyframe.read_polars(path.read_bytes(), subjects=[A, "_:x"])) == 3
    with path.open("rb") as file:
        assert len(jellyframe.read_polars(file, objects='"plain"')) == 1
    assert len(jellyframe.read_pandas(path.parent)) == 4
    path.with_name("y.jelly").write_bytes(path.read_bytes())
    assert len(jellyframe.read_pandas([path, path.with_name("y.jelly")])) == 8
    text = path.with_suffix(".nq")
    jellyframe.convert(path, text)
    assert jellyframe.read_polars(text, columns=["s", "p", "o"]).equals(
        jellyframe.read_polars(path, columns=["s", "p", "o"])
    )
    with pytest.raises(TableError, match="no column 'x'"):
        jellyframe.read_pandas(path, columns=["x"])


def test_lazy_frames_read_only_the_columns_of_the_query(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jellyframe.integrations import sources

    made: list[list[str]] = []
    view = sources.StatementSource.view

    def noted(self, layout, columns=None, *, dictionary=False):
        made.append(columns)
        return view(self, layout, columns, dictionary=dictionary)

    lazy = jellyframe.scan_polars(path, predicates=[P, Q])
    monkeypatch.setattr(sources.StatementSource, "view", noted)
    result = lazy.filter(pl.col("p") == Q.value).select("o").collect()
    assert result["o"].to_list() == ["Ada", "5"]
    assert sorted(made[-1]) == ["o", "p"]
    assert lazy.head(1).collect().height == 1
    assert lazy.select(pl.len()).collect().item() == 4
    assert jellyframe.scan_polars(path, predicates=P).collect().height == 2


def test_a_missing_library_is_an_error_with_the_install_command(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in ("pandas", "polars", "duckdb"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingPackageError, match=rf"pip install 'jellyframe\[{name}\]'"):
            getattr(jellyframe, f"read_{name}")(path)


def test_unknown_arguments_are_refused(path: Path, tmp_path: Path) -> None:
    calls: list[Callable[..., object]] = [
        jellyframe.read_pandas,
        jellyframe.read_polars,
        jellyframe.scan_polars,
        jellyframe.read_duckdb,
        jellyframe.open_table,
        jellyframe.pivot,
        jellyframe.to_networkx,
        lambda source, **reading: jellyframe.pyoxigraph.load(pyoxigraph.Store(), source, **reading),
        lambda source, **reading: jellyframe.write_neo4j(source, tmp_path / "graph", **reading),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="'subject' is not an argument"):
            call(path, subject="a:s")
    assert not (tmp_path / "graph").exists()
