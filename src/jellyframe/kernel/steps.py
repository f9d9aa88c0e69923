"""Numbers that the plan of a row and its writing share; `steps.pxd` repeats them as C constants."""

# Protobuf readers give up at 100 nested messages, of which a frame, its row and the statement are three.
DEEPEST_NESTING = 96
# The most bytes of a protobuf message.
LARGEST_MESSAGE = 0x7FFFFFFF
# A step of the plan writes fewer bytes than this besides its strings.
STEP_OVERHEAD = 48
# A step that closes a quoted triple; all others have the kind of their term.
CLOSE_TRIPLE = 8
