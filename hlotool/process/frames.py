"""Frames the messages of a child and its parent, and reports the child's state between two of them."""

#: bytes that say how long the message after them is
LENGTH_BYTES = 8

#: State of a child: a message lies whole in a pipe, or in neither, only while it is working. One byte that
#: forkserver.py shares with its fork.
WAITING, WORKING, ANSWERING = range(3)


def framed(message: bytes) -> bytes:
    """Return a message with its length before it."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


def length_in(head: bytes) -> int:
    """Return the number of bytes after a frame's first LENGTH_BYTES."""
    return int.from_bytes(head, "little")
