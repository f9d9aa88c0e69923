"""The session and the data of the tests of jobs."""

from __future__ import annotations

from typing import Any

import pytest

from jellyframe.batch import Batch
from jellyframe.formats import ntriples
from support.spark_data import STATEMENTS


@pytest.fixture(scope="session")
def nquads() -> bytes:
    """The statements of `STATEMENTS` as N-Quads."""
    text: Any = ntriples.write(Batch.from_statements(STATEMENTS, quads=True))
    return bytes(text)
