"""A task whose modules say by their names what they do to the process that looks at them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from hlotool.corpus import COSTS, Task
from hlotool.text.input_files import Input


def rows(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    assert given.source is not None
    text = given.source.text
    if "HloModule crash" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "HloModule hang" in text:
        time.sleep(1000)
    if "HloModule bug" in text:
        raise ValueError("something that nobody thought of")
    if "HloModule grow" in text:
        bytearray(1 << 50)
    if "HloModule deep" in text:
        raise RecursionError
    time.sleep(0.02)
    yield COSTS.name, {"module": text.split()[1], "flops": len(text)}


FAULTS = Task("faults", "what goes wrong", f"{__name__}:rows", (COSTS,))
