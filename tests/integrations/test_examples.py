"""The examples and the notebook run, and what they show is HTML."""

from __future__ import annotations

import json
from pathlib import Path

import examples.integrations
import pytest

import jellyframe
from jellyframe import IRI, Literal, Triple

NOTEBOOK = Path(examples.integrations.__file__).with_name("notebook.ipynb")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    examples.integrations.main()
    out = capsys.readouterr().out
    assert "rdflib: 12 triples, 12 statements" in out
    assert "the same again: True" in out
    assert "[30, 31, 32]" in out


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
    with jellyframe.open_reader(b"no jelly") as reader:
        assert "<dt>error</dt>" in reader._repr_html_()
