"""Fixtures of all tests with web servers."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _no_proxies() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
        yield
