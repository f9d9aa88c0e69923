"""The data source `jelly-grpc`: topics of a gRPC server, read and written by Spark.

Each process opens its own connections, after it was forked: gRPC channels do not survive a fork.
"""
