"""The data source `jelly-grpc`: topics of a server, read and written by Spark.

Connections are made where they are used, in the process that does the work, and never before it is forked.
"""
