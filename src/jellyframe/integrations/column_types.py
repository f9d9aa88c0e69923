"""Arrow types for the literals of a predicate, from their XSD datatypes if all lexical forms are valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.terms import XSD

_INTEGERS = frozenset(
    XSD + name
    for name in (
        "integer int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger "
        "unsignedLong unsignedInt unsignedShort unsignedByte"
    ).split()
)
_FLOATS = frozenset((XSD + "double", XSD + "float"))
_MOST_DIGITS = 38
_INT64_DIGITS = 18
_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"
_FLOAT = r"^([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_DATE_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


class ColumnType(NamedTuple):
    """The type of a column. For decimals, values need `digits` before the point and `scale` after it."""

    kind: str
    digits: int = 0
    scale: int = 0

    def arrow(self) -> pa.DataType:
        """Return the Arrow type."""
        if self.kind == "decimal":
            return pa.decimal128(_MOST_DIGITS, self.scale)
        return _ARROW[self.kind]

    def merged(self, other: ColumnType) -> ColumnType:
        """Return a type for the values of both: numbers without loss, and otherwise strings."""
        if self == other or (self.kind == other.kind and self.kind != "decimal"):
            return self if self.digits >= other.digits else other
        if {self.kind, other.kind} <= {"integer", "decimal"}:
            return _decimal(max(self.digits, other.digits), max(self.scale, other.scale))
        return STRING


STRING = ColumnType("string")
_ARROW = {
    "string": pa.string(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_utc": pa.timestamp("us", "UTC"),
}

# The first and the last day of the years 1 to 9999, and their microseconds, counted from 1970.
_DAYS = (-719_162, 2_932_896)
_MICROSECONDS = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)
_RANGES = {"date": _DAYS, "timestamp": _MICROSECONDS, "timestamp_utc": _MICROSECONDS}


def _decimal(digits: int, scale: int) -> ColumnType:
    return ColumnType("decimal", digits, scale) if digits + scale <= _MOST_DIGITS else STRING


def type_of(values: Callable[[], pa.Array], datatypes: set[str] | None) -> ColumnType:
    """Return the type for objects: their strings, and their datatypes if all of them are typed literals.

    It is `string` unless all are literals of one family of XSD datatypes (integers and decimals are one), and all
    lexical forms are valid and fit. `values` is called only if the strings matter.
    """
    if not datatypes:
        return STRING
    for family, find in _FAMILIES:
        if datatypes <= family:
            return find(pc.utf8_trim_whitespace(values()))
    return STRING


def converted(values: pa.Array, column: ColumnType) -> pa.Array:
    """Return strings as values of a type that fits them."""
    if column.kind == "string":
        return values
    texts = pc.utf8_trim_whitespace(values)
    if column.kind == "boolean":
        # Nulls stay nulls; `is_in` would return false for them.
        return pc.or_(pc.equal(texts, "true"), pc.equal(texts, "1"))
    if column.kind in ("integer", "decimal", "float"):
        texts = pc.replace_substring_regex(texts, r"^\+", "")
    if column.kind == "decimal":
        texts = pc.replace_substring_regex(texts, r"\.$", "")
    return texts.cast(column.arrow())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _casts(texts: pa.Array, column: ColumnType) -> ColumnType:
    """Return the type if Arrow can convert all values: it refuses, for example, the 30th of February.

    Dates and times outside of the years 1 to 9999, also in UTC, are not converted: Python cannot represent them.
    """
    try:
        found = converted(texts, column)
    except pa.ArrowException:
        return STRING
    if column.kind in _RANGES:
        numbers = found.cast(pa.int32() if column.kind == "date" else pa.int64())
        bounds = pc.min_max(numbers).as_py()
        least, most = _RANGES[column.kind]
        if bounds["min"] < least or bounds["max"] > most:
            return STRING
    return column


def _longest(texts: pa.Array, pattern: str) -> int:
    """Return the length of the longest text without its part that matches the pattern."""
    return int(pc.max(pc.utf8_length(pc.replace_substring_regex(texts, pattern, ""))).as_py())


def _number(texts: pa.Array) -> ColumnType:
    if not _all_match(texts, _DECIMAL):
        return STRING
    digits = _longest(texts, r"^[+-]?0*|\..*$")
    if _all_match(texts, _INTEGER):
        return ColumnType("integer", digits) if digits <= _INT64_DIGITS else _decimal(digits, 0)
    return _decimal(digits, _longest(texts, r"^[^.]*\.?"))


def _integer(texts: pa.Array) -> ColumnType:
    return _number(texts) if _all_match(texts, _INTEGER) else STRING


def _decimal_number(texts: pa.Array) -> ColumnType:
    found = _number(texts)
    return _decimal(found.digits, 0) if found.kind == "integer" else found


def _float(texts: pa.Array) -> ColumnType:
    return _casts(texts, ColumnType("float")) if _all_match(texts, _FLOAT) else STRING


def _boolean(texts: pa.Array) -> ColumnType:
    return ColumnType("boolean") if _all_match(texts, "^(true|false|1|0)$") else STRING


def _date(texts: pa.Array) -> ColumnType:
    return _casts(texts, ColumnType("date")) if _all_match(texts, _DATE) else STRING


def _timestamp(texts: pa.Array) -> ColumnType:
    if _all_match(texts, _DATE_TIME + "$"):
        return _casts(texts, ColumnType("timestamp"))
    if _all_match(texts, _DATE_TIME + r"(Z|[+-][0-9]{2}:[0-9]{2})$"):
        return _casts(texts, ColumnType("timestamp_utc"))
    return STRING


_FAMILIES: tuple[tuple[frozenset[str], Callable[[pa.Array], ColumnType]], ...] = (
    (_INTEGERS, _integer),
    (_INTEGERS | {XSD + "decimal"}, _decimal_number),
    (_FLOATS, _float),
    (frozenset((XSD + "boolean",)), _boolean),
    (frozenset((XSD + "date",)), _date),
    (frozenset((XSD + "dateTime", XSD + "dateTimeStamp")), _timestamp),
)
