"""The stand-in for the cython module: what kernel sources rely on when they run as Python."""

from __future__ import annotations

import pytest

from jellyframe.kernel import _uncompiled as cython


def test_compiled_is_false():
    assert cython.compiled is False


@pytest.mark.parametrize(
    ("c_type", "value", "converted"),
    [
        (cython.uchar, 0x1FF, 0xFF),
        (cython.schar, 0xFF, -1),
        (cython.short, 0x8000, -0x8000),
        (cython.int, 0x7FFF_FFFF, 0x7FFF_FFFF),
        (cython.int, 0x8000_0000, -0x8000_0000),
        (cython.uint, -1, 0xFFFF_FFFF),
        (cython.longlong, 1 << 63, -(1 << 63)),
        (cython.ulonglong, -1, (1 << 64) - 1),
        (cython.const[cython.uchar], 256, 0),
        (cython.double, 1.5, 1.5),
    ],
)
def test_cast_converts_as_c_does(c_type, value, converted):
    assert cython.cast(c_type, value) == converted


def test_cast_returns_other_objects_unchanged():
    view = memoryview(b"abc")
    assert cython.cast(cython.const[cython.uchar][::1], view) is view


def test_declare_returns_the_value():
    assert cython.declare(cython.Py_ssize_t, 7) == 7
    assert cython.declare(cython.Py_ssize_t, visibility="readonly") is None


@pytest.mark.parametrize("name", ["cclass", "cfunc", "ccall", "inline", "final", "internal", "no_gc", "nogil"])
def test_decorators_return_the_function_unchanged(name):
    def function(): ...

    assert getattr(cython, name)(function) is function


@pytest.mark.parametrize(
    "directive",
    [
        cython.boundscheck(False),
        cython.wraparound(False),
        cython.cdivision(True),
        cython.initializedcheck(False),
        cython.overflowcheck(False),
        cython.profile(False),
        cython.freelist(8),
        cython.exceptval(-1, check=True),
        cython.returns(cython.int),
        cython.locals(i=cython.int),
        cython.nogil,
    ],
)
def test_directives_are_decorators_and_context_managers(directive):
    def function(): ...

    assert directive(function) is function
    with pytest.raises(KeyError), directive:
        raise KeyError("errors pass through")
