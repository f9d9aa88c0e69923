"""The two kernels side by side in one process, as the other tests rely on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import jellyframe
from jellyframe.kernel import kernel_name
from support import kernel_twins

MODULES = sorted(f"kernel.{file.stem}" for file in Path(jellyframe.__file__).parent.glob("kernel/*_cy.py"))


def test_each_twin_runs_on_its_kernel(twin, request):
    wanted = request.node.callspec.params["twin"]
    assert kernel_twins.load_twin_module(wanted, "kernel").kernel_name() == wanted
    for name in MODULES:
        file = kernel_twins.load_twin_module(wanted, name).__file__
        assert file is not None
        assert file.endswith(".py") == (wanted == "pure"), name


@pytest.mark.skipif(kernel_name() == "pure", reason="there is but one kernel in this process")
def test_a_twin_shares_no_class_with_the_original():
    for name in ("batch", *MODULES):
        copy = vars(kernel_twins.load_twin_module("pure", name))
        original = vars(kernel_twins.load_twin_module("compiled", name))
        same = [value for key, value in copy.items() if isinstance(value, type) and original.get(key) is value]
        origins = {value.__module__ for value in same if value.__module__.startswith("jellyframe.")}
        assert all(origin.startswith(kernel_twins.SHARED) for origin in origins), f"{name}: {origins}"


def test_the_original_modules_are_unchanged():
    kernel_twins.load_twin("pure")
    assert sys.modules["jellyframe"] is jellyframe
    assert jellyframe.kernel.kernel_name() == kernel_name()


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="no such kernel: 'fast'"):
        kernel_twins.load_twin("fast")
