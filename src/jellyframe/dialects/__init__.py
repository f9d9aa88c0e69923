"""The dialects of Jelly: the released format, and its earlier draft.

A dialect defines how options are read and written, and which kernel modules read and write rows. Everything else is
the same for both.
"""

from __future__ import annotations

from typing import Final

from jellyframe.defaults import DIALECT_NAMES
from jellyframe.dialects.dialect import Dialect
from jellyframe.dialects.draft import DraftDialect
from jellyframe.dialects.released import ReleasedDialect
from jellyframe.options import check_word

__all__ = ["Dialect", "dialect_named"]

_DIALECTS: Final[dict[str, Dialect]] = {dialect.name: dialect for dialect in (ReleasedDialect(), DraftDialect())}


def dialect_named(name: str) -> Dialect:
    """Return the dialect of that name, or raise an OptionsError that lists the names."""
    check_word("the dialect", name, DIALECT_NAMES)
    return _DIALECTS[name]
