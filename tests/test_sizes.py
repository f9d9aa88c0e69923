"""Sizes: what `64k` means, here and on every interface."""

from __future__ import annotations

import argparse

import pytest

from jellyframe.cli.arguments import limit, size_or_off
from jellyframe.sizes import parse_size
from jellyframe.spark.options import ReadOptions


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("500000", 500_000),
        ("7b", 7),
        *((f"64{unit}", 65_536) for unit in ("k", "K", "kb", "kB", "KB", "KiB", "kib", " k", " KiB ")),
        *((f"8{unit}", 8 << 20) for unit in ("m", "M", "MB", "MiB")),
        *((f"1{unit}", 1 << 30) for unit in ("g", "G", "GB", "GiB")),
        ("2T", 2 << 40),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_sizes_are_the_same_everywhere(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert size_or_off(text) == size
    assert limit(f"max_inflated_bytes={text}") == ("max_inflated_bytes", size)
    read = ReadOptions.read({"path": "x", "max_inflated_bytes": text})
    assert read.limits.max_inflated_bytes == size


@pytest.mark.parametrize("text", ["", "k", "-1", "1.5k", "64x", "64ib", "١٢", "1e6", "8 M i B", "9" * 5000, "8388608T"])
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it "):
        parse_size(text)
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        size_or_off(text)
    assert len(str(caught.value)) < 200


def test_off_is_no_size() -> None:
    assert size_or_off("off") is None
    with pytest.raises(argparse.ArgumentTypeError):
        limit("max_inflated_bytes=off")
