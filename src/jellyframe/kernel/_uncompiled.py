"""The `cython` module of kernel sources that run uncompiled.

Cython's own `cython` module could serve, but it need not be installed where the package runs, and its
`cast` does not truncate integers. With this one uncompiled code behaves the same everywhere: directives
and decorators return their arguments, and `cast` truncates integers as C does. A name that is missing
here is an `AttributeError` at import, so this is also the list of names that kernel files may use.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

compiled = False

_Decorated = TypeVar("_Decorated")


# ---- C types ----------------------------------------------------------------------------------------
class _CType:
    """A C type in an annotation: `cython.double`, `cython.int[::1]`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, _item: object) -> _CType:
        return _CType(f"{self._name}[…]")

    def __repr__(self) -> str:
        return f"<uncompiled cython.{self._name}>"

    def converted(self, value: Any) -> Any:
        return value


class _CInteger(_CType):
    """A C integer type, as wide as on this platform; `code` is its letter in the struct module."""

    __slots__ = ("_mask", "_sign_bit")

    def __init__(self, name: str, code: str) -> None:
        super().__init__(name)
        bits = 8 * struct.calcsize(code)
        self._mask = (1 << bits) - 1
        self._sign_bit = 1 << (bits - 1) if code.islower() else 0

    def converted(self, value: Any) -> Any:
        return ((value & self._mask) ^ self._sign_bit) - self._sign_bit


class _Const:
    """`cython.const[…]` is the type that it qualifies."""

    __slots__ = ()

    def __getitem__(self, qualified: _CType) -> _CType:
        return qualified


# `Any` for type checkers: `int[::1]` is not a type that they know.
schar: Any = _CInteger("schar", "b")
uchar: Any = _CInteger("uchar", "B")
short: Any = _CInteger("short", "h")
ushort: Any = _CInteger("ushort", "H")
int: Any = _CInteger("int", "i")
uint: Any = _CInteger("uint", "I")
long: Any = _CInteger("long", "l")
ulong: Any = _CInteger("ulong", "L")
longlong: Any = _CInteger("longlong", "q")
ulonglong: Any = _CInteger("ulonglong", "Q")
Py_ssize_t: Any = _CInteger("Py_ssize_t", "n")
size_t: Any = _CInteger("size_t", "N")
Py_hash_t: Any = _CInteger("Py_hash_t", "n")
bint: Any = _CType("bint")
double: Any = _CType("double")
void: Any = _CType("void")
const: Any = _Const()


def cast(c_type: Any, value: Any, /) -> Any:
    """Return the value as C converts it: an integer loses the bits that do not fit."""
    return c_type.converted(value)


def declare(_c_type: object, value: Any = None, /, *, visibility: str = "private") -> Any:
    """Return the value: a C variable of a module, or a C attribute of a class, is a plain Python one here."""
    return value


# ---- decorators -------------------------------------------------------------------------------------
def _unchanged(decorated: _Decorated, /) -> _Decorated:
    return decorated


cclass = cfunc = ccall = inline = final = internal = no_gc = _unchanged


# ---- directives with a value, as decorators or as context managers -----------------------------------
class _Directive:
    __slots__ = ()

    def __call__(self, decorated: _Decorated, /) -> _Decorated:
        return decorated

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        return None


# `with nogil:` and `@nogil` are used without a value.
nogil = _Directive()


def _directive(*_values: object, **_named_values: object) -> _Directive:
    return nogil


locals = returns = exceptval = freelist = profile = _directive
boundscheck = wraparound = initializedcheck = overflowcheck = cdivision = annotation_typing = _directive
