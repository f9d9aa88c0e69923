"""The reader of the stream source for Spark 4.0 and 4.1, which have no read limits."""

from __future__ import annotations

import importlib
import sys

import pytest

from jellyframe import OptionsError
from jellyframe.spark import stream_source
from support.spark_data import KNOWS_OFFSETS, SPECIAL, quads, texts
from support.stream_queries import Query, add, counted

STATEMENTS = quads(900) + SPECIAL


@pytest.fixture
def older_spark(monkeypatch):
    """The module as it is where Spark has no read limits: there as it is, elsewhere loaded again without them."""
    if not KNOWS_OFFSETS:
        yield
        return
    monkeypatch.setitem(sys.modules, "pyspark.sql.streaming.datasource", None)
    monkeypatch.delattr("pyspark.sql.streaming.datasource")
    importlib.reload(stream_source)
    yield
    monkeypatch.undo()
    importlib.reload(stream_source)


@pytest.mark.usefixtures("older_spark")
def test_new_files_are_read_once(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    add(folder, "a.jelly", STATEMENTS[:100])
    with pytest.raises(OptionsError, match="stateLocation"):
        Query(folder)
    with pytest.raises(OptionsError, match=r"need Spark 4\.2"):
        Query(folder, maxfilespertrigger=1)
    first = Query(folder, statelocation=tmp_path / "state").reader.latestOffset()  # type: ignore[call-arg]
    add(folder, "b.jelly", STATEMENTS[100:])
    query = Query(folder, statelocation=tmp_path / "state")
    second = query.reader.latestOffset()  # type: ignore[call-arg]
    assert counted(query.read(query.reader.initialOffset(), first)) == texts(STATEMENTS[:100])
    assert counted(query.read(first, second)) == texts(STATEMENTS[100:])
