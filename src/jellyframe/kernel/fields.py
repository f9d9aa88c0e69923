"""Numbers of the wire format, as the kernel uses them.

`fields.pxd` repeats them as C constants; a test keeps the two files equal.
"""

# Fields of RdfStreamRow.
ROW_OPTIONS = 1
ROW_TRIPLE = 2
ROW_QUAD = 3
ROW_GRAPH_START = 4
ROW_GRAPH_END = 5
ROW_NAMESPACE = 6
ROW_NAME = 9
ROW_PREFIX = 10
ROW_DATATYPE = 11

# Fields of RdfStreamFrame.
FRAME_ROWS = 1
FRAME_METADATA = 15

# PhysicalStreamType.
TRIPLES = 1
QUADS = 2
GRAPHS = 3

# The content of a position of a statement. The first four are in the order of the fields of RdfTriple.
PART_IRI = 0
PART_BLANK_NODE = 1
PART_LITERAL = 2
PART_TRIPLE = 3
PART_DEFAULT_GRAPH = 4
PART_ABSENT = 5
