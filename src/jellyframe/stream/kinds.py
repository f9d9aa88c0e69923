"""Kinds of streams: how their restart points are told from other frames."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from jellyframe.defaults import DIALECT_NAMES
from jellyframe.errors import JellyError, ParseError
from jellyframe.options import DialectName, Limits
from jellyframe.stream.decoder import AnyStreamDecoder, StreamDecoder
from jellyframe.stream.framing import ROW_TAG, ROW_TAGS
from jellyframe.wire import decode_varint


@dataclass(frozen=True)
class StreamKind:
    """How restart points are recognised in one kind of stream.

    Attributes:
        first_tags: the tags with which the message of the options may begin
        row_tags: the tags of rows
        decoders: functions that make a decoder for a stream that begins there, one for each possible dialect
    """

    first_tags: bytes
    row_tags: bytes
    decoders: tuple[Callable[[Limits], AnyStreamDecoder[Any]], ...]

    def options_row(self) -> bytes:
        """Return a pattern for the start of any options row: a row and in it a message, each with its length.

        It consumes no bytes, so that matches may overlap.
        """
        return rb"(?=\x0a[\x80-\xff]?[\x00-\x7f]\x0a[\x80-\xff]?[\x00-\x7f][" + re.escape(self.first_tags) + b"])"

    def decodes(self, frame: bytes, limits: Limits) -> bool:
        """Return whether a frame decodes with nothing before it."""
        return any(_error_of(make(limits), frame) is None for make in self.decoders)

    def begins_alone(self, head: bytes) -> bool:
        """Return whether the first rows of a frame, of which the first bytes are given, need nothing before them.

        True also for options that are not accepted, limits and streams of another kind, which the reader reports.
        """
        if re.match(self.options_row(), head, re.DOTALL) is None:
            return True
        rows = _whole_rows(head)
        return any(not isinstance(_error_of(make(Limits()), rows), ParseError) for make in self.decoders)


def statement_streams(*dialects: DialectName) -> StreamKind:
    """Return the kind of streams of statements, whose options begin with a name or a physical type."""
    decoders = [partial(_statement_decoder, dialect) for dialect in dialects]
    return StreamKind(b"\x0a\x10", ROW_TAGS, tuple(decoders))


def _statement_decoder(dialect: DialectName, limits: Limits) -> StreamDecoder:
    return StreamDecoder(limits=limits, self_contained=True, dialect=dialect)


# Streams of statements in any dialect.
ANY_STATEMENTS = statement_streams(*DIALECT_NAMES)


def _error_of(decoder: AnyStreamDecoder[Any], frame: bytes) -> JellyError | None:
    """Return the error that decoding a frame raises, or None."""
    decoder.push_frame(frame)
    try:
        for _batch in decoder.batches():
            pass
    except JellyError as error:
        return error
    return None


def _whole_rows(head: bytes) -> bytes:
    """Return the rows that are whole in the first bytes of a frame."""
    end = 0
    try:
        while end < len(head) and head[end] == ROW_TAG:
            length, at = decode_varint(head, end + 1)
            if at + length > len(head):
                break
            end = at + length
    except ParseError:
        # The head ends inside a length.
        pass
    return head[:end]
