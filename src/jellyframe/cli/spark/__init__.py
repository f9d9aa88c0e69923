"""`jellyframe spark`: commands, as `jellyframe.cli` says, each of which calls a function of `jellyframe.spark.jobs`.

`jobs.add_job` describes what all of them have in common; `jobs.job_session` starts Spark, shows how far it has got, and
turns what goes wrong in workers into the error that it was there.
"""
