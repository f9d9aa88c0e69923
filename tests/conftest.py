"""Fixtures for all tests."""

from __future__ import annotations

import signal
from types import ModuleType

import pytest

from jellyframe.kernel import kernel_name
from support.kernel_twins import KERNELS, NoTwinError, load_twin


def pytest_configure() -> None:
    # A shell starts background jobs with interrupts ignored, and so would the commands that tests interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    return f"jellyframe kernel: {kernel_name()}"


@pytest.fixture(scope="session", params=KERNELS)
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """The package, once on each kernel. Session-wide, so property tests may use it."""
    try:
        return load_twin(request.param)
    except NoTwinError as reason:
        pytest.skip(str(reason))
