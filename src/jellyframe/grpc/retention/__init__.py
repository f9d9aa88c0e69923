"""What becomes of the frames of a topic: passed on only, kept in memory, kept on disk, or read from files."""
