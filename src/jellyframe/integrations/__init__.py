"""Bridges to other libraries: their terms, graphs and stores. Each module imports the library it is named after."""
