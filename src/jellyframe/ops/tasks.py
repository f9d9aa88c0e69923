"""The work of a task: write statements to files, and report the files to the driver."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.terms import BatchMaker
from jellyframe.batch import Batch
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.outputs import Output, ready_batches
from jellyframe.ops.patches.inverting import invert_patches
from jellyframe.ops.reading import opened_patches, piece_batches
from jellyframe.ops.summary import MAX_PROBLEMS, Summary
from jellyframe.patch import PatchRow, Punctuation, row_batches
from jellyframe.storage.rolling import RollingFiles
from jellyframe.stream.splits import Piece


class FolderEntry(TypedDict):
    """The content of a folder of a partition."""

    value: str | None
    folder: str
    statements: int
    files: int
    bytes: int


@dataclass
class TaskResult:
    """The result of a task: files with their sizes, statements, the number of bad records, and the first of these.

    `folders` has the content of each folder, if there are several; `details` has further results of the task.
    """

    files: list[tuple[str, int]] = field(default_factory=list)
    statements: int = 0
    bad: int = 0
    problems: list[str] = field(default_factory=list)
    folders: list[FolderEntry] = field(default_factory=list)
    details: list[dict[str, Any]] = field(default_factory=list)

    def add_files(self, written: RollingFiles, output: Output) -> None:
        """Add complete files."""
        infos = [output.target.storage.info(path) for path in written.paths]
        self.files += [(path, info.size) for path, info in zip(written.paths, infos, strict=True)]
        self.statements += written.statements

    def as_json(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, text: str) -> TaskResult:
        return cls(**json.loads(text))


def write_batches(
    batches: Iterator[Batch], output: Output, prefix: str, result: TaskResult, *, declare: bool = False
) -> None:
    """Write batches to files whose names begin with `prefix`, and add them to the result of the task.

    With `declare`, namespaces of the batches are written too, if the format has them.
    """
    with output.files(prefix) as files:
        for batch in ready_batches(_declared(batches, files) if declare else batches, output):
            files.write(batch)
    result.add_files(files, output)


def _declared(batches: Iterator[Batch], files: RollingFiles) -> Iterator[Batch]:
    for batch in batches:
        if batch.namespaces:
            files.declare({declaration.name: declaration.iri for declaration in batch.namespaces})
        yield batch


def write_pieces(pieces: tuple[Piece, ...], inputs: Inputs, output: Output, prefix: str) -> TaskResult:
    """Read pieces of files, and write their statements."""
    result = TaskResult()
    bad = BadRecords(inputs.options.mode)

    def batches() -> Iterator[Batch]:
        for piece in pieces:
            yield from piece_batches(piece, inputs, bad.add)

    write_batches(batches(), output, prefix, result)
    result.bad = bad.count
    result.problems = bad.quoted()
    return result


def write_rows(
    record_batches: Iterable[pa.RecordBatch], columns: Sequence[str], corrupt: str | None, output: Output, prefix: str
) -> TaskResult:
    """Write rows in a layout. `corrupt` is the column with reports of bad records, if there is one."""
    result = TaskResult()

    def batches() -> Iterator[Batch]:
        maker: BatchMaker | None = None
        for record_batch in good_rows(record_batches, corrupt, result):
            statements = record_batch.select(list(columns))
            maker = maker or BatchMaker(statements.schema)
            yield maker.make(statements)

    write_batches(batches(), output, prefix, result)
    return result


def good_rows(
    record_batches: Iterable[pa.RecordBatch], corrupt: str | None, result: TaskResult
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with statements. The others report bad records, which are added to the result."""
    for record_batch in record_batches:
        good = record_batch
        if corrupt is not None:
            messages = record_batch[corrupt].drop_null().to_pylist()
            if messages:
                result.bad += len(messages)
                result.problems += messages[: MAX_PROBLEMS - len(result.problems)]
                good = record_batch.filter(pc.is_null(record_batch[corrupt]))
        if len(good):
            yield good


def write_inverted(pieces: tuple[Piece, ...], inputs: Inputs, output: Output, prefix: str) -> TaskResult:
    """Read the patches in pieces of files, and write patches that undo them."""
    result = TaskResult()
    with output.files(prefix) as files:
        target = _InvertedFiles(files, output)
        for piece in pieces:
            with opened_patches(piece, inputs) as reader:
                invert_patches(reader.patches(), target)
    result.add_files(files, output)
    return result


class _InvertedFiles:
    """The files of a task as the target of `invert_patches`."""

    def __init__(self, files: RollingFiles, output: Output) -> None:
        self._files = files
        self._output = output
        self._has_ends = output.has_patch_ends

    def write_rows(self, rows: Iterable[PatchRow]) -> None:
        for batch in row_batches(rows, has_graph=self._output.has_graph):
            self._files.write(batch)

    def write_batch(self, batch: Batch) -> None:
        self._files.write(self._output.fitting(batch))

    def end_patch(self) -> None:
        if self._has_ends:
            self.write_rows([Punctuation()])


def summarize(
    job: str, inputs: Sequence[Inputs], output: Output, results: Sequence[TaskResult], seconds: float
) -> Summary:
    """Return the summary of all tasks of a job."""
    problems = [problem for result in results for problem in result.problems]
    return Summary(
        job=job,
        output=output.target.storage.display(output.target.path),
        statements=sum(result.statements for result in results),
        files=sum(len(result.files) for result in results),
        bytes=sum(size for result in results for _path, size in result.files),
        seconds=round(seconds, 3),
        input_files=sum(len(each.files) for each in inputs),
        input_bytes=sum(each.total_bytes for each in inputs),
        bad_records=sum(result.bad for result in results),
        problems=problems[:MAX_PROBLEMS],
    )
