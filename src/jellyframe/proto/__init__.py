"""Jelly's messages as protobuf classes: `rdf_pb2`, `patch_pb2`, `grpc_pb2`, generated from the .proto files.

They serve where speed does not matter. Streams are read and written by the kernel, without protobuf.
"""
