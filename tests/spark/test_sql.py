"""SQL statements that work with the data source, and the errors of others."""

from __future__ import annotations

import pytest

from support.spark_data import Read, quads, texts, write_jelly

STATEMENTS = quads(300)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    write_jelly(tmp_path / "data" / "a.jelly", STATEMENTS)
    return tmp_path / "data"


@pytest.fixture
def sql(spark):
    """Run a statement and return its rows. Tables and views are dropped afterwards."""

    def run(statement):
        return [tuple(row) for row in spark.sql(statement).collect()]

    yield run
    for table in spark.catalog.listTables():
        spark.sql(f"DROP {'VIEW' if table.isTemporary or table.tableType == 'VIEW' else 'TABLE'} {table.name}")


def count(sql, relation):
    ((found,),) = sql(f"SELECT count(*) FROM {relation}")
    return found


def test_a_temporary_view_is_read_and_inserted_into(sql, folder, tmp_path):
    sql(f"CREATE TEMPORARY VIEW source USING jelly OPTIONS (path '{folder}', layout 'ntriples')")
    sql(f"CREATE TEMPORARY VIEW target USING jelly OPTIONS (path '{tmp_path}/out', layout 'ntriples')")
    assert count(sql, "source WHERE p = '<http://example.org/p1>'") == 60
    (tmp_path / "out").mkdir()
    for statement, times in (("INSERT INTO", 1), ("INSERT INTO", 2), ("INSERT OVERWRITE", 1)):
        sql(f"{statement} target SELECT * FROM source")
        assert Read(tmp_path / "out", layout="ntriples").counted() == texts(STATEMENTS * times)
    sql("INSERT INTO target (s, p, o) VALUES ('<http://e/s>', '<http://e/p>', '\"o\"')")
    assert len(Read(tmp_path / "out").rows()) == len(STATEMENTS) + 1


@pytest.mark.parametrize(
    "place", ["OPTIONS (path '{}', layout 'ntriples')", "OPTIONS (layout 'ntriples') LOCATION '{}'"]
)
def test_a_table_has_its_columns_and_is_told_its_path(sql, spark, folder, tmp_path, place):
    sql(f"CREATE TABLE t USING jelly {place.format(folder)} COMMENT 'statements' TBLPROPERTIES ('quality' = 'gold')")
    assert [row[:2] for row in sql("DESCRIBE t")] == [(name, "string") for name in "spog"]
    assert count(sql, f"t WITH (path = '{folder}')") == len(STATEMENTS)
    assert spark.read.option("path", str(folder)).table("t").count() == len(STATEMENTS)
    sql(f"INSERT INTO t WITH (path = '{tmp_path}/out') SELECT * FROM t WITH (path = '{folder}')")
    assert Read(tmp_path / "out", layout="ntriples").counted() == texts(STATEMENTS)
    sql(f"CREATE VIEW v AS SELECT * FROM t WITH (path = '{folder}')")
    assert count(sql, "v WHERE o LIKE '<%'") == 100
    with pytest.raises(Exception, match=r"FROM table WITH \(path = '…'\)"):
        sql("SELECT * FROM t")
    with pytest.raises(Exception, match=r"FROM table WITH \(path = '…'\)"):
        sql("INSERT INTO t VALUES ('<a:s>', '<a:p>', '<a:o>', NULL)")


def test_options_of_tables_are_checked(sql, folder):
    with pytest.raises(Exception, match="did you mean layout"):
        sql(f"CREATE TABLE t USING jelly OPTIONS (path '{folder}', layuot 'ntriples')")


def test_limits_of_spark_for_data_sources(sql, spark, folder, tmp_path):
    frame = spark.read.format("jelly").option("layout", "ntriples").load(str(folder))
    for mode in ("error", "ignore"):
        with pytest.raises(Exception, match="Append"):
            frame.write.format("jelly").mode(mode).save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="partitioning"):
        frame.write.format("jelly").mode("append").partitionBy("p").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="no path is given"):
        frame.write.format("jelly").mode("append").saveAsTable("t")
    with pytest.raises(Exception, match="UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"):
        sql(f"SELECT * FROM jelly.`{folder}`")
    assert not (tmp_path / "out").exists()


def test_a_folder_for_each_value_instead_of_partition_by(spark, folder, tmp_path):
    from jellyframe.spark import jobs

    jobs.partition(spark, str(folder), str(tmp_path / "parts"), by="predicate")
    folders = [place for place in (tmp_path / "parts").iterdir() if place.is_dir()]
    assert len(folders) == 5
    assert sum(len(Read(place).rows()) for place in folders) == len(STATEMENTS)
