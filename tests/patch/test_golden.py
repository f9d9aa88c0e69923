"""The golden files: streams that were made by hand from protobuf messages, and the text that was written for each."""

from __future__ import annotations

from types import ModuleType

import pytest

from jellyframe.errors import JellyError
from jellyframe.formats.rdf_patch import open_text_input
from jellyframe.ops.patches.converting import convert_patches
from support import patch_oracle
from support.patch_golden import FOLDER, STREAMS

WHOLE = [name for name in STREAMS if not name.startswith("broken")]
ERRORS = {
    "broken-nested-transaction": "a transaction starts inside another transaction",
    "broken-unended-transaction": "a punctuation mark inside a transaction",
    "broken-repeat-at-start": "the predicate is to be repeated, but no statement came before",
}


@pytest.mark.parametrize("name", STREAMS)
def test_each_file_equals_its_messages(name: str) -> None:
    assert (FOLDER / f"{name}.jellyp").read_bytes() == STREAMS[name]


@pytest.mark.parametrize("name", WHOLE)
def test_a_stream_reads_as_its_text(name: str, twin: ModuleType) -> None:
    text = (FOLDER / f"{name}.rdfp").read_text(encoding="utf-8")
    with twin.open_patch_reader(FOLDER / f"{name}.jellyp") as reader:
        end = "" if reader.options.stream_type == twin.PatchStreamType.FLAT else "# end of patch\n"
        assert "".join("".join(f"{row}\n" for row in patch) + end for patch in reader.patches()) == text


@pytest.mark.parametrize("name", WHOLE)
def test_a_text_is_written_as_a_stream_with_the_same_rows(name: str, tmp_path: pytest.TempPathFactory) -> None:
    given, made = FOLDER / f"{name}.rdfp", f"{tmp_path}/made.jellyp"
    with open_text_input(given, patch_ends="marks") as reader:
        rows = [patch_oracle.plain_row(row) for row in reader]
    convert_patches(given, made, patch_ends="marks")
    with open(made, "rb") as file:
        made_rows = patch_oracle.decode(file.read())
    # A stream ends the last patch, and a text need not.
    assert made_rows in (rows, [*rows, ("P",)])


@pytest.mark.parametrize("name", ERRORS)
def test_a_broken_stream_is_refused(name: str, twin: ModuleType) -> None:
    with pytest.raises(JellyError, match=ERRORS[name]), twin.open_patch_reader(FOLDER / f"{name}.jellyp") as reader:
        list(reader)
