"""How a child and its parent say where a message ends, and what a child is at between two of them."""

#: bytes that say how long the message after them is
LENGTH_BYTES = 8

#: What a child is at: a message lies whole in a pipe, or in neither, only while it is working. One byte that
#: forkserver.py shares with its fork.
WAITING, WORKING, ANSWERING = range(3)


def framed(message: bytes) -> bytes:
    """A message with its length before it."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


def length_in(head: bytes) -> int:
    """How many bytes follow a frame's first LENGTH_BYTES."""
    return int.from_bytes(head, "little")
