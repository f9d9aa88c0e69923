"""Commands for Jelly streams over gRPC."""
