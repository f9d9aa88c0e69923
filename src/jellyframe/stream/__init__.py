"""Jelly streams: reader, writer, messages, and the index of restart points."""
