"""Fixtures for all tests."""

from __future__ import annotations

import signal
from pathlib import Path
from types import ModuleType

import pytest

from jellyframe.kernel import kernel_name
from support.kernel_twins import KERNELS, NoTwinError, load_twin

TESTS = Path(__file__).parent
# What takes many minutes or needs classes for a JVM runs when asked for: `make soak`, `make interop`.
ON_REQUEST = ("soak", "jvm")


def pytest_configure() -> None:
    # Shells and nohup start what runs in the background with these signals ignored. The commands that tests send them
    # to would inherit that, and never end.
    for ignored, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(ignored) is signal.SIG_IGN:
            signal.signal(ignored, handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path.parent == TESTS and collection_path.name in ON_REQUEST:
        return not any(collection_path.name in Path(argument).parts for argument in config.args) or None
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    # With several processes, all that shares a Spark session goes to one of them.
    if "spark" in item.path.relative_to(TESTS).parts:
        item.add_marker(pytest.mark.xdist_group("spark"))


def pytest_report_header() -> str:
    return f"jellyframe kernel: {kernel_name()}"


@pytest.fixture(scope="session", params=KERNELS)
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """The package, once on each kernel. Session-wide, so property tests may use it."""
    try:
        return load_twin(request.param)
    except NoTwinError as reason:
        pytest.skip(str(reason))
