"""The parser of one kernel, as tests use it: text in, plain tuples out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jellyframe.errors import TextError
from support.kernel_twins import load_twin_module
from support.plain import PlainStatement, PlainTerm
from support.tables import table_statements, table_terms


class TextKernel:
    """The parts of a kernel that read text."""

    def __init__(self, name: str) -> None:
        self.parsing = load_twin_module(name, "kernel.ntriples_parse_cy")
        self.tables = load_twin_module(name, "kernel.table_cy")
        self.memory = load_twin_module(name, "kernel.memory_cy")

    def parse(self, *pieces: bytes, quads: bool = False, **options: Any) -> list[PlainStatement]:
        """The statements of a text that comes in pieces; what the parser leaves of one goes before the next."""
        parser = self.parsing.TextParser(quads, **options)
        builder = self.tables.BatchBuilder(quads)
        rest = b""
        for number, piece in enumerate(pieces, 1):
            rest += piece
            is_final = number == len(pieces)
            rest = rest[parser.parse(builder, rest, 0, len(rest), is_final, 1000) :]
        assert rest == b""
        return table_statements(builder.columns(), builder.terms)

    def parse_terms(self, *strings: str, **options: Any) -> list[PlainTerm]:
        """Each string as a term."""
        table = self.tables.TermTable()
        encoded = [string.encode() for string in strings]
        offsets = self.memory.int_column(len(encoded) + 1)
        for number, string in enumerate(encoded):
            offsets[number + 1] = offsets[number] + len(string)
        column = self.parsing.parse_terms(offsets, b"".join(encoded), table, **options)
        terms = table_terms(table)
        return [terms[term] for term in column]


def outcome(run: Callable[..., Any], *arguments: object, **settings: object) -> Any:
    """The result: a value, or an error with its position."""
    try:
        return run(*arguments, **settings)
    except TextError as error:
        return error.message, error.line, error.column, error.offset
