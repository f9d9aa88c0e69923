"""The data source `jelly-patch`: the rows of patches as a DataFrame and back, in splits that break no transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Add,
    Delete,
    Header,
    Literal,
    NamespaceAdd,
    NamespaceDelete,
    Punctuation,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.errors import NamedGraphError, OptionsError, ParseError, TableError
from jellyframe.ops.stream_files import write_files
from jellyframe.patch import PatchOptions, PatchRow, PatchStreamType, open_patch_reader, open_patch_writer
from jellyframe.spark import activate
from jellyframe.spark.options import PatchWriteOptions
from jellyframe.spark.source import JellyPatchDataSource
from jellyframe.storage.commit import Target
from support.patch_logs import apply_to_set, random_rows, read_patches, statement, write_patch
from support.sources import options_in_each_frame
from support.spark_data import KNOWS_OFFSETS, Read, stream_options, write_jelly

PUNCTUATED = PatchStreamType.PUNCTUATED
EVERY_ROW: list[PatchRow] = [
    Header("id", Literal("1")),
    TransactionStart(),
    NamespaceAdd("ex", IRI("http://example.org/"), DEFAULT_GRAPH),
    NamespaceDelete("old", None, IRI("http://example.org/g")),
    Delete(*statement(3)),
    Add(*statement(4)),
    TransactionCommit(),
    Punctuation(),
    TransactionStart(),
    Add(*statement(5)),
    TransactionAbort(),
    Punctuation(),
]


class ReadPatches(Read):
    source = JellyPatchDataSource


def written(tmp_path, table, rows=7, **options):
    """Write a table as a task of Spark does, and return the folder."""
    folder = tmp_path / uuid4().hex
    given = PatchWriteOptions.read(
        {"path": str(folder), **{name.lower(): str(value) for name, value in options.items()}}
    )
    target = Target.of(str(folder), uuid4().hex)
    plan = given.plan(table.schema)
    files = write_files(table.to_batches(rows), plan, target, f"{target.attempt_folder(1)}/part-0")
    target.publish(files, "append", is_data=given.is_data)
    return folder


def is_whole(operations):
    """Whether operations begin and end outside of transactions."""
    marks = [op for op in operations if op in ("TX", "TC", "TA")]
    return len(marks) % 2 == 0 and all(op == "TX" for op in marks[::2]) and "TX" not in marks[1::2]


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_every_row_survives_a_round_trip(tmp_path, layout):
    write_patch(tmp_path / "in.jellyp", EVERY_ROW, PUNCTUATED)
    table = ReadPatches(tmp_path / "in.jellyp", layout=layout).table
    assert table["op"].to_pylist() == ["H", "TX", "PA", "PD", "D", "A", "TC", "P", "TX", "A", "TA", "P"]
    assert read_patches(written(tmp_path, table)) == EVERY_ROW


def test_columns_and_schema(tmp_path):
    write_patch(tmp_path / "in.jellyp", EVERY_ROW, PUNCTUATED)
    read = ReadPatches(tmp_path / "in.jellyp", layout="ntriples", columns="op,s,file,frame")
    assert read.rows()[4] == ("D", "<http://example.org/s3>", str(tmp_path / "in.jellyp"), 0)
    assert ReadPatches(tmp_path / "in.jellyp").schema.names == ["op", "s", "p", "o", "g"]
    with pytest.raises(OptionsError, match="there is no column 'x'; there are op, s, p, o, g, frame"):
        ReadPatches(tmp_path / "in.jellyp", columns="x")
    with pytest.raises(
        OptionsError, match="the format jelly-patch has no option 'commited' here; did you mean committed"
    ):
        ReadPatches(tmp_path / "in.jellyp", commited="true")
    with pytest.raises(OptionsError, match="operations = 'A,B': it must be one of A, D, PA"):
        ReadPatches(tmp_path / "in.jellyp", operations="A,B")


def test_committed_rows_and_operations_are_filtered(tmp_path):
    write_patch(tmp_path / "in.jellyp", EVERY_ROW, PUNCTUATED)
    held = ReadPatches(tmp_path / "in.jellyp", committed="true")
    assert [op for (op,) in held.rows("op")] == ["H", "PA", "PD", "D", "A", "P", "P"]
    assert ReadPatches(tmp_path / "in.jellyp", operations="a").counted("op") == {("A",): 2}
    assert ReadPatches(tmp_path / "in.jellyp", operations="A,D", committed="true").counted("op") == {
        ("A",): 1,
        ("D",): 1,
    }
    subject = ReadPatches(tmp_path / "in.jellyp", subjects="http://example.org/s4")
    assert subject.counted("op") == {("A",): 1}


@pytest.mark.parametrize("stream_type", [PatchStreamType.FLAT, PUNCTUATED])
def test_a_split_breaks_no_transaction_and_no_patch(tmp_path, stream_type):
    rows = random_rows(1, 3000)
    if stream_type is PUNCTUATED:
        rows = [row for some in (random_rows(seed, 100) for seed in range(30)) for row in [*some, Punctuation()]]
    write_patch(tmp_path / "in.jellyp", rows, stream_type, restart_every=500, frame_rows=8)
    read = ReadPatches(tmp_path / "in.jellyp", layout="ntriples", partition_bytes=1500, columns="op,frame")
    assert len(read.partitions) > 8
    for partition in read.partitions:
        operations = pa.Table.from_batches(partition)["op"].to_pylist()
        assert is_whole(operations)
        assert stream_type is PatchStreamType.FLAT or operations[-1] == "P"
    frames = [frame for (frame,) in read.rows("frame")]
    assert frames == sorted(frames)
    held = ReadPatches(tmp_path / "in.jellyp", partition_bytes=1500, committed="true", operations="A,D")
    whole = ReadPatches(tmp_path / "in.jellyp", committed="true", operations="A,D")
    assert held.table == whole.table
    # Where transactions need not be right, nothing shows that a cut lies inside one.
    assert len(ReadPatches(tmp_path / "in.jellyp", partition_bytes=1500, strict="false").partitions) == 1


def test_a_patch_whose_writer_repeats_the_options_is_read_whole(tmp_path):
    path = tmp_path / "in.jellyp"
    rows = random_rows(1, 3000)
    options = PatchOptions(stream_type=PatchStreamType.FLAT, max_name_table_size=16, max_prefix_table_size=4)
    with open_patch_writer(path, options, restart_every=None, frame_rows=7) as writer:
        writer.write(rows)
    path.write_bytes(options_in_each_frame(path.read_bytes()))
    read = ReadPatches(path, partition_bytes=1500)
    assert len(read.partitions) == 1
    assert read.table.num_rows == len(rows)


def test_groups_become_patches(tmp_path):
    rows = [Add(*statement(number)) for number in range(30)]
    write_patch(tmp_path / "in.jellyp", rows)
    table = ReadPatches(tmp_path / "in.jellyp").table
    table = table.append_column("day", pa.array([number // 12 for number in range(30)]))
    for stream_type in ("FRAME", "PUNCTUATED"):
        folder = written(tmp_path, table, group_by="day", stream_type=stream_type, max_records_per_file=20)
        sizes = []
        for path in sorted(folder.iterdir()):
            with open_patch_reader(path) as reader:
                assert reader.options.stream_type is PatchStreamType[stream_type]
                sizes.append([len(list(patch)) for patch in reader.patches()])
        assert sizes == [[12, 12], [6]]
    with pytest.raises(OptionsError, match="a stream of type FLAT is one patch"):
        written(tmp_path, table, group_by="day", stream_type="FLAT")
    with pytest.raises(OptionsError, match="name the column that distinguishes them with group_by"):
        written(tmp_path, table.drop_columns("day"), stream_type="FRAME")


def test_a_file_ends_outside_of_transactions(tmp_path):
    rows = random_rows(3, 500)
    write_patch(tmp_path / "in.jellyp", rows)
    table = ReadPatches(tmp_path / "in.jellyp").table
    folder = written(tmp_path, table, stream_type="FLAT", max_records_per_file=30)
    assert len(list(folder.iterdir())) > 5
    for path in folder.iterdir():
        assert is_whole(ReadPatches(path).table["op"].to_pylist())
    assert read_patches(folder) == rows
    # All of it is one patch, which is never cut.
    assert len(list(written(tmp_path, table, max_records_per_file=30).iterdir())) == 1


def test_tables_without_patches_are_refused(tmp_path):
    write_patch(tmp_path / "in.jellyp", EVERY_ROW, PUNCTUATED)
    table = ReadPatches(tmp_path / "in.jellyp", layout="ntriples").table
    with pytest.raises(TableError, match="there is no column 'op', which has the operation of each row of a patch"):
        written(tmp_path, table.drop_columns("op"))
    with pytest.raises(TableError, match="column 'x' has no place in a patch"):
        written(tmp_path, table.append_column("x", pa.nulls(len(table))))
    with pytest.raises(NamedGraphError, match="statement_type is TRIPLES"):
        written(tmp_path, table, statement_type="TRIPLES")
    write_jelly(tmp_path / "data.jellyp", [statement(1)])
    with pytest.raises(OptionsError, match="this is a stream of RDF statements, not a Jelly-Patch stream"):
        ReadPatches(tmp_path / "data.jellyp")


def test_patches_survive_a_round_trip_in_spark(spark, tmp_path):
    rows = random_rows(7, 1500)
    write_patch(tmp_path / "in" / "a.jellyp", rows, restart_every=500, frame_rows=10)
    (tmp_path / "in" / "b.jelly").write_text("not a patch")
    frame = spark.read.format("jelly-patch").option("partition_bytes", 3000).load(str(tmp_path / "in"))
    assert frame.rdd.getNumPartitions() > 2
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept.jelly").write_text("another kind of data")
    for _ in range(2):
        frame.write.format("jelly-patch").mode("overwrite").option("stream_type", "FLAT").save(str(tmp_path / "out"))
    assert read_patches(tmp_path / "out") == rows
    assert (tmp_path / "out" / "kept.jelly").exists()


def test_patches_are_read_in_sql(spark, tmp_path):
    write_patch(tmp_path / "in.jellyp", EVERY_ROW, PUNCTUATED)
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW changes USING `jelly-patch` OPTIONS (path '{tmp_path}/in.jellyp', "
        "layout 'ntriples', committed 'true')"
    )
    (tmp_path / "out").mkdir()
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW copy (op STRING, s STRING, p STRING, o STRING, g STRING) "
        f"USING `jelly-patch` OPTIONS (path '{tmp_path}/out')"
    )
    spark.sql("INSERT INTO copy SELECT * FROM changes WHERE op IN ('A', 'D')").collect()
    assert read_patches(tmp_path / "out") == [Delete(*statement(3)), Add(*statement(4)), Punctuation()]
    (row,) = spark.sql("SELECT op, count(*) FROM copy WHERE op = 'A' GROUP BY op").collect()
    assert tuple(row) == ("A", 1)


def test_a_stream_of_patches_with_a_bad_one(spark, tmp_path):
    """Through threads of Python, as programs with several queries have them."""
    folder, out = tmp_path / "in", tmp_path / "out"
    write_patch(folder / "1.jellyp", random_rows(1, 200))

    def run(target, **options):
        stream = spark.readStream.format("jelly-patch").options(**stream_options(tmp_path / "state", **options))
        query = (
            stream.load(str(folder))
            .drop("_corrupt_record")
            .where("op is not null")
            .writeStream.format("jelly-patch")
            .option("checkpointLocation", str(tmp_path / f"checkpoint-{target.name}"))
            .trigger(availableNow=True)
            .start(str(target))
        )
        query.awaitTermination()

    with ThreadPoolExecutor(1, initializer=activate, initargs=(spark,)) as pool:
        pool.submit(run, out).result()
        write_patch(folder / "2.jellyp", random_rows(2, 200))
        pool.submit(run, out).result()
        rows = [*random_rows(1, 200), *random_rows(2, 200)]
        assert apply_to_set([], read_patches(out)) == apply_to_set([], rows)
        bad = (folder / "2.jellyp").read_bytes()
        (folder / "3.jellyp").write_bytes(bad[: len(bad) // 2])
        with pytest.raises(StreamingQueryException, match=r"3\.jellyp"):
            pool.submit(run, out).result()
        if KNOWS_OFFSETS:
            tolerant = tmp_path / "tolerant"
            pool.submit(run, tolerant, mode="PERMISSIVE", committed="true").result()
            assert len(read_patches(tolerant)) > 200


def test_bad_input_is_reported_in_its_place(tmp_path):
    write_patch(tmp_path / "good.jellyp", EVERY_ROW, PUNCTUATED)
    data = (tmp_path / "good.jellyp").read_bytes()
    (tmp_path / "bad.jellyp").write_bytes(data[:-3])
    with pytest.raises(ParseError, match=r"bad\.jellyp"):
        ReadPatches(tmp_path)
    read = ReadPatches(tmp_path, mode="PERMISSIVE", layout="ntriples")
    assert [op for (op,) in read.rows("op")].count(None) == 1
    (message,) = [text for (text,) in read.rows("_corrupt_record") if text]
    assert message.startswith(str(tmp_path / "bad.jellyp"))
    assert ReadPatches(tmp_path, mode="DROPMALFORMED").table.num_rows >= len(EVERY_ROW)


def damaged_log(path):
    """Write a hundred patches of one transaction each, and spoil some bytes in the middle of the file."""
    rows: list[PatchRow] = []
    for number in range(100):
        adds = [Add(*statement(10 * number + row)) for row in range(4)]
        rows += [Header("id", Literal(str(number))), TransactionStart(), *adds, TransactionCommit(), Punctuation()]
    write_patch(path, rows, PUNCTUATED, restart_every=1500, frame_rows=9)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + b"\xff" * 30 + data[middle + 10 :])
    return path


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
@pytest.mark.parametrize("size", [1, 1 << 30])
def test_damage_never_commits_a_part_of_a_transaction(tmp_path, mode, size):
    path = damaged_log(tmp_path / "log.jellyp")
    with pytest.raises(ParseError, match=r"log\.jellyp: "):
        ReadPatches(path, partition_bytes=size)
    read = ReadPatches(path, layout="ntriples", partition_bytes=size, mode=mode, committed="true")
    values = [o for op, o in zip(read.table["op"].to_pylist(), read.table["o"].to_pylist(), strict=True) if op == "A"]
    numbers = [int(value.strip('"').removeprefix("value ")) for value in values]
    assert 240 < len(numbers) < 400
    assert numbers == [number + row for number in numbers[::4] for row in range(4)]
    if mode == "PERMISSIVE":
        (report,) = [text for text in read.table["_corrupt_record"].to_pylist() if text is not None]
        assert report.startswith(f"{path}: frame ")
        assert "are lost: " in report
