"""One folder for each value of a key."""

from __future__ import annotations

import json

import pyarrow as pa

from jellyframe import IRI, Batch, Quad, read_table
from jellyframe.arrow.tables import batch_to_arrow
from jellyframe.ops.outputs import MANIFEST, Output
from jellyframe.ops.partitioning import GRAPH, SUBJECT, folder_name, stage_manifest, write_folders
from jellyframe.ops.tasks import TaskResult


def test_names_of_folders_tell_and_differ():
    one = folder_name("<http://xmlns.com/foaf/0.1/name>", "predicate")
    assert one.startswith("predicate=name-")
    assert one != folder_name("<http://other.org/name>", "predicate")
    assert folder_name(None, "graph") == "graph=default"
    assert folder_name("7", SUBJECT) == "subject=00007"
    assert folder_name('"../\\0 ☺"', "predicate").isascii()
    assert "/" not in folder_name("<http://a/../..>", "graph")


def test_two_tasks_and_a_manifest(tmp_path):
    def rows(first, last):
        quads = [
            Quad(IRI(f"http://a/{i}"), IRI("http://a/p"), IRI(f"http://a/{i}"), IRI(f"http://a/g{i // 10}"))
            for i in range(first, last)
        ]
        return pa.Table.from_batches([batch_to_arrow(Batch.from_statements(quads), "ntriples")]).to_batches(7)

    output = Output.of(tmp_path / "out", has_graph=True)
    results = []
    for task, batches in enumerate([rows(0, 20), rows(20, 50)]):
        result = TaskResult()
        place = output.target.attempt_folder(task), f"part-{task}"
        write_folders(batches, "g", ["s", "p", "o", "g"], GRAPH, output, place, result)
        results.append(result)
    manifest = stage_manifest(results, GRAPH, 16, output)
    output.publish([*(path for result in results for path, _size in result.files), manifest])
    found = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert (found["by"], found["format"]) == ("graph", "jelly")
    assert {folder["value"]: folder["statements"] for folder in found["folders"]} == {
        f"<http://a/g{i}>": 10 for i in range(5)
    }
    for folder in found["folders"]:
        files = list((tmp_path / "out" / folder["folder"]).iterdir())
        assert folder["bytes"] == sum(path.stat().st_size for path in files)
        assert set(read_table(files, layout="ntriples")["g"].to_pylist()) == {folder["value"]}
