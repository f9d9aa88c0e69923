"""Check a stream of patches against the rules of its format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jellyframe.errors import JellyError, LimitError, TextError
from jellyframe.formats.patches import open_patch_input, patch_format
from jellyframe.formats.rdf_patch import PatchEnds, open_text_input
from jellyframe.formats.registry import JELLY_PATCH
from jellyframe.kernel.patch_fields import PATCH_PUNCTUATION
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.sources import CountedSource
from jellyframe.ops.validating import delimiting_problem
from jellyframe.ops.validation_report import MAX_TERM_PROBLEMS, ValidationReport
from jellyframe.patch.marks import with_marks
from jellyframe.patch.options import PatchOptions
from jellyframe.patch.reader import PatchReader, open_patch_reader

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import Limits
    from jellyframe.storage.types import Path, Source


class PatchValidationReport(ValidationReport):
    """The problems of a stream of patches, and how much of it was read.

    Args:
        name: the name of the input in the report
    """

    unit = "row"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.patches = 0
        self.bad_lines = 0
        self._is_patch_open = False

    def count_marked(self, batch: Batch) -> None:
        """Count the patches of a batch, in which punctuation marks end them.

        Args:
            batch: the next batch that has rows
        """
        if not len(batch):
            return
        ends = batch.operations.tolist().count(PATCH_PUNCTUATION)
        is_open = batch.operations[len(batch) - 1] != PATCH_PUNCTUATION
        # The current patch counts, as the input may end with it.
        self.patches += ends - self._is_patch_open + is_open
        self._is_patch_open = is_open

    def add_line(self, error: TextError) -> None:
        """Note an invalid line; only the first 20 are listed.

        Args:
            error: the error
        """
        self.bad_lines += 1
        if self.bad_lines <= MAX_TERM_PROBLEMS:
            self.add("text", f"line {error.line}, column {error.column}: {error.message}")

    def _counts(self) -> dict[str, int]:
        frames = {} if self.delimited is None else {"frame": self.frames}
        return {**frames, "patch": self.patches, "row": self.statements}

    def _more_problems(self) -> list[str]:
        more = self.bad_lines - MAX_TERM_PROBLEMS
        return [*super()._more_problems(), *([f"{more} more lines cannot be read"] if more > 0 else [])]


def validate_patches(
    source: Source,
    format: str | None = None,  # noqa: A002
    *,
    strict: bool = True,
    lenient: bool = False,
    delimited: bool | None = None,
    expected_options: PatchOptions | Path | None = None,
    validate_terms: bool = False,
    concatenated: bool = False,
    patch_ends: PatchEnds = "headers",
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
) -> PatchValidationReport:
    """Read a whole stream of patches, of any format, and return a report of its errors.

    A `LimitError` is raised: it says nothing about the validity of the stream. Memory is bounded.

    Args:
        source: a path, a URI, bytes, or a binary file object
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        strict: whether transactions that start or end where they must not, or are open at the end, are problems
        lenient: for text: accept IRIs that are not absolute
        delimited: for Jelly-Patch: whether the frames must be delimited; by default both are valid
        expected_options: the options that the stream must have, or a file of patches that has them
        validate_terms: also check IRIs (RFC 3987) and language tags (BCP 47)
        concatenated: for Jelly-Patch: every options row begins a new stream
        patch_ends: for text: where the patches end (see `open_patch_input`)
        limits: the limits for untrusted input
        progress: called with a `Progress` now and then
    """
    found = patch_format(format, source)
    with CountedSource(source, limits=limits) as counted:
        report = PatchValidationReport(counted.name)

        def batches() -> Iterator[Batch]:
            reader: PatchReader
            if found is JELLY_PATCH:
                reader = open_patch_reader(counted, limits=limits, strict=strict, concatenated=concatenated)
            else:
                reader = open_text_input(
                    counted,
                    limits=limits,
                    strict=strict,
                    lenient=lenient,
                    patch_ends=patch_ends,
                    on_error=report.add_line,
                    abort_losses=False,
                )
            with reader:
                try:
                    for batch in reader.batches():
                        for marked in with_marks((batch,), reader.options.stream_type):
                            report.count_marked(marked)
                        yield batch
                    report.options = reader.options
                    report.is_complete = True
                except LimitError:
                    raise
                except TextError as error:
                    report.add_line(error)
                except JellyError as error:
                    report.add_error(error)
                report.delimited = reader.is_delimited

        for batch in ProgressMeter(progress, counted.total_bytes).over(batches(), counted):
            report.count(batch)
            if validate_terms:
                report.check_terms(batch)
    if delimited is not None and report.delimited is not None and delimited != report.delimited:
        report.add("delimiting", delimiting_problem(report.delimited))
    if expected_options is not None and report.options is not None:
        report.check_options(*_expected(expected_options))
    return report


def _expected(expected: PatchOptions | Path) -> tuple[PatchOptions, str]:
    if isinstance(expected, PatchOptions):
        return expected, "the expected options"
    with open_patch_input(expected) as reader:
        return reader.options, str(expected)
