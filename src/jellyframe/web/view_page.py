"""The page of `view`: one document with its style sheet and its script, which loads nothing but data."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from jellyframe.report.style import CSS

_SCRIPT = files("jellyframe.web").joinpath("view.js").read_text(encoding="utf-8")
# The policy of the page names the one script that may run.
SCRIPT_HASH = f"sha256-{b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}"


@cache
def view_page() -> str:
    """Return the page."""
    style = CSS + files("jellyframe.web").joinpath("view.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>jellyframe view</title>
<style>{style}</style>
</head>
<body class="view">
<a class="skip" href="#main">Skip to the data</a>
<header>
  <div class="name"><label class="hidden" for="file">File</label><select id="file"></select>
  <p class="soft" id="subtitle"></p></div>
  <div class="corner"><button id="keys" type="button" aria-haspopup="dialog">Keys <kbd>?</kbd></button>
  <button id="theme" type="button" aria-label="Switch between light and dark">Light / dark</button></div>
</header>
<nav role="tablist" aria-label="Views">
  <button role="tab" type="button" id="tab-statements" aria-controls="statements">Statements</button>
  <button role="tab" type="button" id="tab-frames" aria-controls="frames">Frames</button>
  <button role="tab" type="button" id="tab-plots" aria-controls="plots">Plots</button>
  <button role="tab" type="button" id="tab-options" aria-controls="options">Options</button>
</nav>
<main id="main">
<section id="statements" role="tabpanel" aria-labelledby="tab-statements">
  <form id="filters" role="search" aria-label="Filter statements">
    <label>Subject<input name="s" autocomplete="off" spellcheck="false" placeholder="IRI or _:label"></label>
    <label>Predicate<input name="p" autocomplete="off" spellcheck="false" placeholder="IRI"></label>
    <label>Object<input name="o" autocomplete="off" spellcheck="false" placeholder='IRI, _:label or "text"'></label>
    <label data-graph>Graph<input name="g" autocomplete="off" spellcheck="false" placeholder="IRI or default"></label>
    <div class="buttons"><button type="submit" class="main">Filter</button>
    <button type="button" id="clear">Clear</button></div>
  </form>
  <div id="follow" class="follow" hidden></div>
  <div class="pager" role="group" aria-label="Pages">
    <button type="button" id="first" aria-label="First page">« First</button>
    <button type="button" id="previous" aria-label="Previous page">‹ Previous</button>
    <button type="button" id="next" aria-label="Next page">Next ›</button>
    <button type="button" id="last" aria-label="Last page">Last »</button>
    <label class="jump">Go to <input type="range" id="jump" min="0" max="1000" value="0" step="1"
      aria-label="Place in the file, in tenths of a per cent"></label>
    <form id="goto" hidden><label>No. <input id="number" inputmode="numeric" size="11" autocomplete="off"
      aria-label="Number of a statement"></label></form>
    <span id="status" role="status" aria-live="polite"></span>
    <button type="button" id="stop" hidden>Stop</button>
  </div>
  <div class="wide-table" tabindex="0" role="region" aria-label="Statements">
  <table id="table"><thead></thead><tbody></tbody></table></div>
</section>
<section id="frames" role="tabpanel" aria-labelledby="tab-frames" hidden></section>
<section id="plots" role="tabpanel" aria-labelledby="tab-plots" hidden></section>
<section id="options" role="tabpanel" aria-labelledby="tab-options" hidden></section>
</main>
<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keys</h2><dl id="help-keys"></dl>
<form method="dialog"><button class="main">Close</button></form></dialog>
<dialog id="whole" aria-labelledby="whole-title"><h2 id="whole-title">The whole term</h2><pre></pre>
<form method="dialog"><button class="main">Close</button></form></dialog>
<div id="tip" hidden></div>
<script>{_SCRIPT}</script>
</body>
</html>
"""
