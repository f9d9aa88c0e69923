"""What the kernel sources see as `cython` when they run uncompiled.

Cython's own `cython` module could serve, but it need not be installed where the package runs, and it
acts on types in ways of its own (`cython.cast`, `cython.declare`). This stand-in does nothing at all,
everywhere the same: types are plain Python ones, directives and decorators give back what they get.
A name that is missing here is an `AttributeError` at import, so the list below is also the list of
what kernel files may use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

compiled = False

_Decorated = TypeVar("_Decorated")


# ---- C types ----------------------------------------------------------------------------------------
class _CType:
    """A C type as it stands in an annotation: `cython.int`, `cython.int[::1]`, `cython.const[…]`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, _item: object) -> _CType:
        return self

    def __call__(self, *_values: object) -> NoReturn:
        raise TypeError(f"cython.{self._name} converts no values: uncompiled code has no C types")

    def __repr__(self) -> str:
        return f"<uncompiled cython.{self._name}>"


# `Any` for type checkers: `int[::1]` is no type that they know.
int: Any = _CType("int")
uint: Any = _CType("uint")
short: Any = _CType("short")
ushort: Any = _CType("ushort")
schar: Any = _CType("schar")
uchar: Any = _CType("uchar")
long: Any = _CType("long")
ulong: Any = _CType("ulong")
longlong: Any = _CType("longlong")
ulonglong: Any = _CType("ulonglong")
Py_ssize_t: Any = _CType("Py_ssize_t")
size_t: Any = _CType("size_t")
Py_hash_t: Any = _CType("Py_hash_t")
bint: Any = _CType("bint")
double: Any = _CType("double")
void: Any = _CType("void")
const: Any = _CType("const")


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
boundscheck = wraparound = initializedcheck = overflowcheck = cdivision = _directive
