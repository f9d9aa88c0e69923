"""Jelly-Patch for rdflib, with the arguments of rdflib's own patch format, but bytes instead of text."""

from __future__ import annotations

import io
import re
from typing import IO, Any

from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, Dataset, Graph
from rdflib.parser import InputSource, Parser
from rdflib.plugins.serializers.patch import PatchSerializer
from rdflib.serializer import Serializer

from jellyframe.errors import OptionsError
from jellyframe.formats.patches import open_patch_input, open_patch_output
from jellyframe.integrations.patch_applying import apply_patch
from jellyframe.integrations.rdflib_plugin import byte_stream


class JellyPatchParser(Parser):
    """Applies Jelly-Patch to a graph or a dataset: `dataset.parse("x.jellyp")`."""

    def parse(self, source: InputSource, sink: Graph, *, strict: bool = True) -> None:
        """Apply the rows of a patch. Transactions that are aborted or not finished have no effect.

        Args:
            source: the source that rdflib has opened
            sink: the graph or the dataset
            strict: whether transactions out of turn, or an unfinished one, are errors
        """
        target = sink
        if not isinstance(sink, ConjunctiveGraph) and sink.identifier == DATASET_DEFAULT_GRAPH_ID:
            # `Dataset.parse` passes its default graph to parsers, not the dataset.
            target = Dataset(store=sink.store)
        apply_patch(byte_stream(source), target, strict=strict)


class JellyPatchSerializer(Serializer):
    """Writes Jelly-Patch with the arguments of rdflib's patch format, such as `operation` and `target`."""

    def serialize(
        self, stream: IO[bytes], base: str | None = None, encoding: str | None = None, **arguments: Any
    ) -> None:
        """Write the patch of rdflib's text format: all statements added or removed, or the difference to a target.

        Args:
            stream: the binary output stream
            base: not used
            encoding: not used, as Jelly is binary
            arguments: those of rdflib's `PatchSerializer`
        """
        if not isinstance(self.store, Dataset):
            raise OptionsError("rdflib makes patches of datasets only: use rdflib.Dataset")
        text = io.BytesIO()
        PatchSerializer(self.store).serialize(text, **arguments)
        # rdflib leaves out the end of this line.
        ended = re.sub(rb"^(H prev <[^>]*>)$", rb"\1 .", text.getvalue(), flags=re.MULTILINE)
        with open_patch_input(ended, "rdfp") as patch, open_patch_output(stream, "jelly-patch") as output:
            for batch in patch.batches():
                output.write_batch(batch)
