"""Reports for people: a page with plots in one file, which needs neither a network nor any library.

`page` builds a page, `plots` draws, `text` formats numbers; `stream` reports on a Jelly stream.
"""
