"""The commands of `jellyframe http`."""
