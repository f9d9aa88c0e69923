"""Stores for the frames of a topic: none, in memory, on disk, in Kafka, or files that are served."""
