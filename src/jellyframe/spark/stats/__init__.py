"""Statistics of a set of statements, counted on Spark.

`counting` is what tasks do: it turns batches into rows of counts. `gathering` sums these up, in one pass over the data.
`result` has the numbers; `table`, `void` and `page` show them to people, to programs and in a browser.
"""
