"""Patches of whole data sets: their differences, what patches leave behind, and what they say."""
