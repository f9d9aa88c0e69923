"""`jellyframe.ntriples`: sources, sinks, batches."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks.datasets import DATASETS, Dataset
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import JellyError, LimitError, OptionsError, TextError
from jellyframe.kernel import kernel_name
from jellyframe.options import Limits
from jellyframe.storage.compression import zstd_module
from support.kernel_twins import load_twin_module
from support.plain import PlainStatement
from support.sources import Pipe
from support.tables import table_statements

TRIPLES = b'<x:s> <x:p> <x:o> .\n<x:s> <x:p> "x"@en .\n_:b <x:p> << <x:s> <x:p> <x:o> >> .\n'
QUADS = b"<x:s> <x:p> <x:o> .\n<x:s> <x:p> <x:o> <x:g> .\n<x:s> <x:p> <x:o> _:g .\n"


@pytest.fixture(scope="session")
def ntriples(twin: ModuleType) -> ModuleType:
    name = "pure" if twin.__name__.endswith("_pure") else kernel_name()
    return load_twin_module(name, "formats.ntriples")


def statements(batches: Any) -> list[PlainStatement]:
    return [row for batch in batches for row in table_statements((batch.s, batch.p, batch.o, batch.g), batch.terms)]


@pytest.mark.parametrize("text", [TRIPLES, QUADS, b""])
@pytest.mark.parametrize("squeeze", [bytes, gzip.compress, lambda data: zstd_module().compress(data)])
def test_sources_of_every_kind_are_read(ntriples: ModuleType, tmp_path: Path, text: bytes, squeeze: Any) -> None:
    data = squeeze(text)
    path = tmp_path / "text"
    path.write_bytes(data)
    for source in (data, bytearray(data), memoryview(data), path, str(path), io.BytesIO(data), Pipe(data)):
        assert ntriples.write(ntriples.read(source)) == text


def test_an_open_file_is_left_open(ntriples: ModuleType) -> None:
    file = io.BytesIO(TRIPLES)
    assert len(list(ntriples.read(file))) == 1
    assert not file.closed


@pytest.mark.parametrize(
    ("name", "has_graph"),
    [("a.nt", False), ("a.NT.gz", False), ("a.nq", True), ("a.nq.zst", True), ("nq", None), ("a.nq.txt.b", None)],
)
def test_the_name_of_a_file_decides_about_graphs(
    ntriples: ModuleType, tmp_path: Path, name: str, has_graph: bool | None
) -> None:
    (tmp_path / name).write_bytes(TRIPLES)
    assert next(ntriples.read(tmp_path / name)).has_graph is bool(has_graph)
    (tmp_path / name).write_bytes(QUADS)
    if has_graph is False:
        with pytest.raises(TextError, match=r"line 2, column 19: .*only N-Quads have a graph"):
            list(ntriples.read(tmp_path / name))
    else:
        assert next(ntriples.read(tmp_path / name)).has_graph


def test_without_a_name_the_first_batch_decides_about_graphs(ntriples: ModuleType) -> None:
    assert [batch.has_graph for batch in ntriples.read(TRIPLES, batch_rows=1)] == [False] * 3
    assert [batch.has_graph for batch in ntriples.read(QUADS, batch_rows=2)] == [True] * 2
    with pytest.raises(TextError, match="line 2, column 19"):
        list(ntriples.read(QUADS, batch_rows=1))
    assert statements(ntriples.read(QUADS, batch_rows=1, quads=True)) == statements(ntriples.read(QUADS))


def test_quads_by_request(ntriples: ModuleType) -> None:
    batches = list(ntriples.read(TRIPLES, quads=True))
    assert [row[3] for row in statements(batches)] == [("default",)] * 3
    assert ntriples.write(batches) == TRIPLES


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 100])
def test_batches_have_batch_rows_rows(ntriples: ModuleType, batch_rows: int) -> None:
    text = b"# before\n" + TRIPLES * 5 + b"\n# after\n"
    batches = list(ntriples.read(text, batch_rows=batch_rows))
    assert {len(batch) for batch in batches[:-1]} <= {batch_rows}
    assert 0 < len(batches[-1]) <= batch_rows
    assert ntriples.write(batches) == TRIPLES * 5


def test_batches_are_bounded_in_bytes(ntriples: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[ntriples.TextReader.__module__], "BATCH_BYTES", 1000)
    text = b"".join(b'<x:s> <x:p> "%d%s" .\n' % (number, b"x" * 300) for number in range(20))
    batches = list(ntriples.read(text))
    assert max(batch.terms.values.data_size for batch in batches) < 1400
    assert ntriples.write(batches) == text


def test_a_line_longer_than_the_read_buffer_is_read(ntriples: ModuleType) -> None:
    text = b'<x:s> <x:p> "' + b"x" * (3 << 20) + b'" .\n' + TRIPLES
    assert ntriples.write(ntriples.read(io.BytesIO(text))) == text


def test_invalid_batch_rows_are_refused(ntriples: ModuleType) -> None:
    for rows in (0, 1 << 31, 1 << 70):
        with pytest.raises(OptionsError, match="batch_rows"):
            ntriples.read(TRIPLES, batch_rows=rows)


def test_errors_name_the_source(ntriples: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "bad.nt"
    path.write_bytes(TRIPLES + b"oops\n")
    batches = ntriples.read(path, batch_rows=2)
    assert len(next(batches)) == 2
    with pytest.raises(TextError) as raised:
        next(batches)
    assert str(raised.value).startswith(f"{path}: line 4, column 1: expected ")


def test_bad_lines_can_be_left_out(ntriples: ModuleType) -> None:
    errors: list[TextError] = []
    text = b"oops\n" + TRIPLES + b"<x:s> <x:p> .\n" + TRIPLES + b"oops"
    assert ntriples.write(ntriples.read(text, on_error=errors.append, batch_rows=2)) == TRIPLES * 2
    assert [error.line for error in errors] == [1, 5, 9]


def test_damaged_compressed_input_is_an_error(ntriples: ModuleType) -> None:
    with pytest.raises(JellyError, match="cut off"):
        list(ntriples.read(gzip.compress(TRIPLES)[:-4]))
    with pytest.raises(LimitError):
        list(ntriples.read(gzip.compress(TRIPLES), limits=Limits(max_inflated_bytes=10)))


def test_generalized_and_nesting(ntriples: ModuleType) -> None:
    text = b'"s" _:p << <x:s> "p" << <x:s> <x:p> <x:o> >> >> .\n'
    assert ntriples.write(ntriples.read(text, generalized=True)) == text
    with pytest.raises(TextError):
        list(ntriples.read(text))
    with pytest.raises(TextError, match="nested more than 1 deep"):
        list(ntriples.read(text, generalized=True, limits=Limits(max_nesting_depth=1)))


def test_sinks_of_every_kind_are_written(ntriples: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "out.nt"
    file = io.BytesIO()
    assert ntriples.write(ntriples.read(TRIPLES), file) is None
    assert file.getvalue() == TRIPLES
    assert ntriples.write(ntriples.read(TRIPLES), path) is None
    assert path.read_bytes() == TRIPLES
    ntriples.write(next(ntriples.read(TRIPLES)), str(path), compression="gzip")
    assert gzip.decompress(path.read_bytes()) == TRIPLES
    with pytest.raises(OptionsError):
        ntriples.write([], compression="gzip")


def test_a_file_appears_whole_or_not_at_all(ntriples: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(TextError):
        ntriples.write(ntriples.read(TRIPLES + b"oops", batch_rows=1), tmp_path / "out.nt")
    assert list(tmp_path.iterdir()) == []


def test_many_rows_are_written_in_pieces(ntriples: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntriples, "LINES_ROWS", 4)
    assert ntriples.write(ntriples.read(TRIPLES * 7)) == TRIPLES * 7


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_realistic_data_survives_a_round_trip(ntriples: ModuleType, dataset: Dataset) -> None:
    text = dataset.text(400)
    batches = list(ntriples.read(text, quads=dataset.quads, batch_rows=150))
    again = ntriples.write(batches)
    assert statements(ntriples.read(again, quads=dataset.quads)) == statements(batches)
    if b"\\" not in text:
        assert again == text


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=20), batch_rows=st.integers(1, 5))
def test_short_reads_are_joined(ntriples: ModuleType, sizes: list[int], batch_rows: int) -> None:
    text = TRIPLES * 2
    source = _Dribble(text, sizes)
    assert ntriples.write(ntriples.read(source, batch_rows=batch_rows)) == text


class _Dribble:
    """A file object whose reads are of the given sizes, over and over."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data = io.BytesIO(data)
        self._sizes = sizes
        self._reads = 0

    def read(self, size: int) -> bytes:
        self._reads += 1
        return self._data.read(min(size, self._sizes[self._reads % len(self._sizes)]))


def test_line_buffers_are_reused_only_when_released(ntriples: ModuleType) -> None:
    text = b"".join(b'<x:s> <x:p> "%d" .\n' % number for number in range(9000))
    (batch,) = ntriples.read(text)
    memory = ntriples.Memory()
    kept = [bytes(lines) for _ in range(3) for lines in ntriples.text_pieces(batch, memory=memory)]
    assert b"".join(kept) == 3 * text
    views = [lines for _ in range(3) for lines in ntriples.text_pieces(batch, memory=memory)]
    assert b"".join(views) == 3 * text


def test_text_output_reuses_its_memory(ntriples: ModuleType) -> None:
    if kernel_name() != "compiled" or "_pure." in ntriples.Memory.__module__:
        pytest.skip("only the compiled kernel knows which memory is in use")
    text = b"".join(b'<x:s> <x:p> "%d" .\n' % number for number in range(ntriples.LINES_ROWS))
    (batch,) = ntriples.read(text)
    places = set()

    class Sink:
        def write(self, data: memoryview) -> None:
            places.add(id(data.obj))

    output = ntriples.open_output(Sink(), None, None)
    for _ in range(20):
        output.write(batch)
    # One is being written while the other one is still at hand.
    assert len(places) <= 2
