"""Reports for people: a page with plots in one file, which needs neither a network nor any library.

`page` puts a page together, `plots` draws, `text` writes numbers; `stream` reports on a Jelly stream.
"""
