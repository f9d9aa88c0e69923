"""Commands on changes to RDF data: `jellyframe patch …`."""
