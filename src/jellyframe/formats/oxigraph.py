"""RDF/XML and JSON-LD as batches: parsed by pyoxigraph, and passed on as N-Quads text, which is the fastest way.

Statements are passed in blocks, so memory does not grow with the input. Terms that pyoxigraph has not checked could
change the meaning of the text, so lenient input is passed on term by term.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyoxigraph

from jellyframe.batch import BATCH_BYTES, Batch
from jellyframe.errors import JellyError, TermError, TextError, one_line, short_line, shortened
from jellyframe.formats import ntriples
from jellyframe.formats.pyoxigraph_terms import quad_from_pyoxigraph
from jellyframe.formats.settings import BatchInput, ReadSettings
from jellyframe.formats.target_rules import is_language_tag
from jellyframe.formats.turtle import base_iri
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Source
from jellyframe.stream.statements import batches_of

if TYPE_CHECKING:
    from jellyframe.formats.registry import Format
    from jellyframe.terms import Quad

# Statements are taken from the parser in steps, until a block has enough rows or bytes. A step has fewer statements if
# they are long: with a long prefix, statements are longer than the text that they are read from.
_FIRST_STEP = 16
STEP_STATEMENTS = 512
_STEP_BYTES = 1 << 20
_FORMATS = {"rdfxml": pyoxigraph.RdfFormat.RDF_XML, "jsonld": pyoxigraph.RdfFormat.JSON_LD}
_NQUADS = pyoxigraph.RdfFormat.N_QUADS
# A label that N-Quads does not allow, or something in a literal that looks like one.
_LABEL_WITH_DOT = re.compile(rb"_:\S*\. ")
# Bytes that pyoxigraph reads at a time. For text without line numbers, errors are located this exactly.
_PIECE_BYTES = 8192
# It parses all that it has read. Where a long string may be the prefix of many terms, it gets fewer bytes.
_SMALLEST_PIECE = 64


def open_input(source: Source, found: Format, settings: ReadSettings) -> BatchInput:
    """Open RDF/XML or JSON-LD as batches: an entry of the registry."""
    return _Input(source, found, settings)


class _Input(BatchInput):
    def __init__(self, source: Source, found: Format, settings: ReadSettings) -> None:
        self._format = found
        self._settings = settings
        self._file = _CountedLines(ByteSource(source, settings.limits))
        self._taken = 0
        self._step = _FIRST_STEP
        self._failure: JellyError | None = None
        self._parser = pyoxigraph.parse(
            self._file,  # type: ignore[arg-type]
            _FORMATS[found.name],
            base_iri=base_iri(self._file.name, settings),
            lenient=settings.lenient,
        )

    def namespaces(self) -> dict[str, str]:
        return dict(self._parser.prefixes)

    def close(self) -> None:
        self._file.close()

    def batches(self) -> Iterator[Batch]:
        found = self._unchecked() if self._settings.lenient else self._checked()
        return found if self._format.has_graphs else (batch.without_graph() for batch in found)

    def _checked(self) -> Iterator[Batch]:
        while text := self._block():
            lines = text.count(b"\n")
            try:
                yield from ntriples.read(
                    text, quads=True, lenient=True, batch_rows=self._settings.batch_rows, limits=self._settings.limits
                )
            except TextError as error:
                # A statement that Jelly cannot hold, such as a triple term; the line is that of our own text.
                raise self._refusal(self._taken - lines + (error.line or 1), error) from None

    def _unchecked(self) -> Iterator[Batch]:
        return batches_of(self._statements(), has_graph=True, batch_rows=self._settings.batch_rows)

    def _statements(self) -> Iterator[Quad]:
        while True:
            with self._parsing():
                quad = next(self._parser, None)
            if quad is None:
                return
            self._taken += 1
            try:
                statement = quad_from_pyoxigraph(quad)
                language = getattr(statement.o, "language", None)
                if language is not None and not is_language_tag(language):
                    raise TermError(f"{shortened(language)} is not a valid language tag")
            except TermError as error:
                raise self._refusal(self._taken, error) from None
            yield statement

    def _refusal(self, statement: int, error: JellyError) -> TextError:
        return TextError(f"statement {statement}: {error.message}", source=self._file.name, advice=error.advice)

    def _block(self) -> bytes:
        """Return the next statements of the parser as text: of about as many bytes as a batch may have.

        Where the parser fails, those before that place are returned, and the next call raises.
        """
        texts: list[bytes] = []
        rows = size = 0
        while self._failure is None and rows < self._settings.batch_rows and size < BATCH_BYTES:
            step: list[pyoxigraph.Quad] = []
            try:
                with self._parsing():
                    step.extend(islice(self._parser, self._step))
            except JellyError as error:
                self._failure = error
            text = _text_of(step)
            texts.append(text)
            rows += len(step)
            size += len(text)
            self._taken += len(step)
            if len(step) < self._step:
                break
            self._step = max(1, min(2 * self._step, STEP_STATEMENTS, _STEP_BYTES * len(step) // len(text)))
        if self._failure is not None and not rows:
            raise self._failure
        return b"".join(texts)

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        """Turn the errors of the parser into ours."""
        try:
            yield
        except SyntaxError as error:
            raise self._text_error(error) from None
        except MemoryError:
            raise TextError(
                f"a string or element longer than 16 MiB after statement {self._taken}: pyoxigraph, "
                f"which reads {self._format.title}, takes none; N-Triples, N-Quads, Turtle, TriG and Jelly may have it",
                line=self._file.line,
                source=self._file.name,
            ) from None
        except JellyError as error:
            raise error.located(source=self._file.name) from error.__cause__

    def _text_error(self, error: SyntaxError) -> TextError:
        message = one_line(str(error.msg))
        if error.lineno is not None:
            # Oxigraph writes the position into its message.
            message = message.partition(": ")[2] or message
            return TextError(short_line(message), line=error.lineno, column=error.offset, source=self._file.name)
        first, last = self._file.last_lines
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        return TextError(f"{where}: {short_line(message)}", source=self._file.name)


def _text_of(quads: list[pyoxigraph.Quad]) -> bytes:
    text = pyoxigraph.serialize(quads, format=_NQUADS) or b""
    if _LABEL_WITH_DOT.search(text):
        # XML takes such names. None begins with a digit, so that the new label is not that of another node.
        text = pyoxigraph.serialize([pyoxigraph.Quad(*map(_relabelled, quad)) for quad in quads], format=_NQUADS) or b""
    return text


def _relabelled(term: Any) -> Any:
    if isinstance(term, pyoxigraph.BlankNode) and term.value.endswith("."):
        return pyoxigraph.BlankNode(f"0{term.value}0")
    return term


class _CountedLines:
    """A byte source that is passed on in whole lines if they are long enough, and counts the lines."""

    def __init__(self, file: ByteSource) -> None:
        self._file = file
        self.name = file.name
        self.bytes_read = 0
        self.line = 1
        # The lines of the last piece. Pieces are read on demand, so an error is in this one.
        self.last_lines = (1, 1)
        self._waiting = b""
        self._most = _PIECE_BYTES
        # Bytes since the last quotation mark.
        self._unquoted = 0

    def read(self, size: int = -1) -> bytes:
        # In a long string, small pieces would make the parser begin it again and again.
        most = max(self._most, min(self._unquoted, _PIECE_BYTES))
        if size >= 0:
            most = min(size, most)
        if not self._waiting:
            self._waiting = self._file.read()
        end = self._waiting.find(b"\n", 0, most) + 1 or most
        if self._unquoted >= _PIECE_BYTES:
            # What comes after the string may have it as a prefix, so it is not in the same piece.
            end = _first_quote(self._waiting, end) + 1 or end
        piece, self._waiting = self._waiting[:end], self._waiting[end:]
        self.bytes_read += len(piece)
        self.last_lines = (self.line, self.line + piece.count(b"\n", 0, len(piece) - 1))
        self.line += piece.count(b"\n")
        self._note_long_strings(piece)
        return piece

    def _note_long_strings(self, piece: bytes) -> None:
        first = _first_quote(piece, len(piece))
        if first < 0:
            self._unquoted += len(piece)
            return
        length = self._unquoted + first
        if length >= _PIECE_BYTES:
            self._most = max(min(self._most, _PIECE_BYTES * _PIECE_BYTES // length), _SMALLEST_PIECE)
        self._unquoted = len(piece) - 1 - max(piece.rfind(b'"'), piece.rfind(b"'"))

    def close(self) -> None:
        self._file.close()


def _first_quote(text: bytes, stop: int) -> int:
    """Return where the first quotation mark of either kind is; -1 if there is none before `stop`."""
    found = text.find(b'"', 0, stop)
    single = text.find(b"'", 0, stop if found < 0 else found)
    return found if single < 0 else single
