"""The examples and the notebook run, and what they show is HTML."""

from __future__ import annotations

import io
import json
from importlib import import_module
from pathlib import Path

import examples.integrations
import pytest

import jellyframe
from jellyframe import IRI, Literal, Triple

NOTEBOOK = Path(examples.integrations.__file__).parent.with_name("notebook.ipynb")


@pytest.mark.parametrize(
    ("library", "lines"),
    [
        ("rdflib", ["12 triples", "13 statements as a stream", "ex: http://example.org/"]),
        ("pyoxigraph", ["12 statements loaded", "['Ada', 'Charles', 'Mary']", "the same again: True"]),
        ("pandas", ["3 ages", "['Ada', 'Charles', 'Mary']", "the same again: True"]),
        ("polars", ["4 predicates", "mean age 31.0", "the same again: True"]),
        ("duckdb", ["[(12,)]", "[('Ada',), ('Charles',), ('Mary',)]", "3 names written"]),
        ("arrow", ["12 rows of ['s', 'p', 'o'", "'age': 'int64'", "oldest 32"]),
        ("networkx", ["10 nodes, 12 edges", "['ada', 'charles', 'mary']", "1 component", "the same again: True"]),
        ("neo4j", ["3 nodes, 3 relationships", '"age:long"', "Resource|Person", "database import full people"]),
    ],
)
def test_the_example_runs(library: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    import_module(f"examples.integrations.with_{library}").main()
    out = capsys.readouterr().out
    assert [line for line in lines if line not in out] == []


def test_each_example_has_its_test() -> None:
    folder = Path(examples.integrations.__file__).parent
    named = test_the_example_runs.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {path.stem.removeprefix("with_") for path in folder.glob("with_*.py")} == {library for library, _ in named}


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells run one after the other; the last expression of each is shown as Jupyter would."""
    import ast

    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    names: dict[str, object] = {}
    shown: list[str] = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(NOTEBOOK), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # type: ignore[attr-defined]
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    assert "FLAT_TRIPLES" in shown[0]
    assert shown[1] == "9"
    assert "foaf/0.1/age" in shown[2]
    assert "31" in shown[3]
    assert "http://example.org/ada" in shown[4]


def test_html_is_escaped_and_errors_are_shown(tmp_path: Path) -> None:
    data = jellyframe.dumps([Triple(IRI("a:s"), IRI("a:p"), Literal("<script>"))])
    with jellyframe.open_reader(data) as reader:
        html = reader._repr_html_()
        assert "&lt;script&gt;" in html
        assert "<script>" not in html
        assert len(list(reader)) == 1
    assert "&lt;script&gt;" in jellyframe.open_table(data)._repr_html_()
    # A file object can be read once, and not to be shown.
    once = jellyframe.open_table(io.BytesIO(data))
    assert "<th" in once._repr_html_()
    assert once.reader().read_all().num_rows == 1
    with jellyframe.open_reader(b"no jelly") as reader:
        assert "<dt>error</dt>" in reader._repr_html_()
