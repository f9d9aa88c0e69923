"""Write patches: headers, a transaction, and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jellyframe.batch.lines import row_line
from jellyframe.errors import NamedGraphError
from jellyframe.formats.patches import PatchOutput, open_patch_output
from jellyframe.patch import (
    Header,
    NamespaceAdd,
    NamespaceDelete,
    PatchOptions,
    PatchRow,
    PatchStatementType,
    PatchStreamType,
    TransactionCommit,
    TransactionStart,
)

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.patch.rows import HeaderValue
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.storage.types import Sink


class PatchTarget:
    """The output of patches. With None, rows are only counted.

    Args:
        sink: a path, a binary file object, or None
        out_format: the format; by default that of the file name
        options: the options of the stream
        settings: frames and restart points of the stream
    """

    def __init__(
        self, sink: Sink | None, out_format: str | None, options: PatchOptions, settings: PatchWriterSettings
    ) -> None:
        self._options = options
        self._output: PatchOutput | None = None
        if sink is not None:
            self._output = open_patch_output(sink, out_format, options, **settings)

    def write_rows(self, rows: Iterable[PatchRow]) -> None:
        """Write rows given as objects."""
        if self._output is not None:
            self._output.write(rows)

    def write_batch(self, batch: Batch) -> None:
        """Write the rows of a batch. In a stream of triples, all must be in the default graph."""
        if self._output is None:
            return
        try:
            fitted = batch.fitted(has_graph=self._options.has_graph)
        except NamedGraphError as error:
            raise NamedGraphError(
                "a row of the patch has a graph, which a stream of triples cannot hold; set the statement type to "
                f"quads: {row_line(batch, error.row or 0)}"
            ) from None
        self._output.write_batch(fitted)

    def write_patch(
        self,
        headers: Mapping[str, HeaderValue],
        namespaces: Iterable[NamespaceAdd | NamespaceDelete],
        changes: Iterator[Batch],
        *,
        transaction: bool,
    ) -> None:
        """Write a whole patch, in a transaction if requested and there are changes."""
        self.write_rows(Header(key, value) for key, value in headers.items())
        first_rows = list(namespaces)
        first = next(changes, None)
        is_inside = transaction and (bool(first_rows) or first is not None)
        if is_inside:
            self.write_rows([TransactionStart()])
        self.write_rows(self._without_graphs(first_rows))
        while first is not None:
            self.write_batch(first)
            first = next(changes, None)
        if is_inside:
            self.write_rows([TransactionCommit()])
        self.end_patch()

    def end_patch(self) -> None:
        """End a patch, in streams that have more than one."""
        if self._output is not None and self._options.stream_type is not PatchStreamType.FLAT:
            self._output.end_patch()

    def _without_graphs(self, rows: list[NamespaceAdd | NamespaceDelete]) -> list[NamespaceAdd | NamespaceDelete]:
        if self._options.has_graph:
            return rows
        return [type(row)(row.name, row.iri) for row in rows]  # type: ignore[arg-type]

    def close(self) -> None:
        """End the stream."""
        if self._output is not None:
            self._output.close()

    def discard(self) -> None:
        """Discard the output: nothing appears at the path."""
        if self._output is not None:
            self._output.discard()


@contextmanager
def patch_target(
    sink: Sink | None,
    out_format: str | None,
    options: PatchOptions | None,
    settings: Any,
    *,
    has_graph: bool = True,
) -> Iterator[PatchTarget]:
    """Open the output of patches, which appears when the block ends without an error. Default options are for quads."""
    if options is None:
        statement_type = PatchStatementType.QUADS if has_graph else PatchStatementType.TRIPLES
        options = PatchOptions(statement_type=statement_type)
    target = PatchTarget(sink, out_format, options, settings)
    try:
        yield target
    except BaseException:
        target.discard()
        raise
    target.close()
