"""Fixtures for all tests."""

from __future__ import annotations

import signal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

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


class SparkTogether(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives all tests that share a Spark session to one process, first, and each other test to one that is free."""

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if nodeid.startswith("tests/spark/") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SparkTogether:
    return SparkTogether(config, log)


def pytest_report_header() -> str:
    return f"jellyframe kernel: {kernel_name()}"


@pytest.fixture(scope="session", params=KERNELS)
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """The package, once on each kernel. Session-wide, so property tests may use it."""
    try:
        return load_twin(request.param)
    except NoTwinError as reason:
        pytest.skip(str(reason))
