"""Pieces of files as batches: bad input in the tolerant modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from jellyframe import formats
from jellyframe.errors import JellyError
from jellyframe.ops.inputs import InputOptions, Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.patch import rows_of


@pytest.mark.parametrize("committed", [True, False])
def test_a_bad_line_of_text_leaves_nothing_of_its_transaction(tmp_path: Path, committed: bool) -> None:
    path = tmp_path / "log.rdfp"
    path.write_text(
        "TX .\nA <x:s> <x:p> <x:a> .\nA <x:s> oops\nTC .\nTX .\nA <x:s> <x:p> <x:b> .\nTC .\nA <x:s> <x:p> <x:c> .\n"
    )
    options = InputOptions(mode="DROPMALFORMED", committed=committed)
    inputs = Inputs.find(path, known=formats.PATCH_FORMATS, options=options)
    errors: list[JellyError] = []
    ((piece,),) = inputs.pieces(1)
    rows = [str(row) for batch in piece_batches(piece, inputs, errors.append) for row in rows_of(batch)]
    a, b, c = (f"A <x:s> <x:p> <x:{name}> ." for name in "abc")
    assert rows == ([b, c] if committed else ["TX .", a, "TA .", "TX .", b, "TC .", c])
    assert [str(error).startswith(f"{path}: line 3, column ") for error in errors] == [True]
