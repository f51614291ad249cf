"""The codes of what is wrong between devices."""

from __future__ import annotations

from hlotool.diagnostics import define

STUCK = define("E180", "devices-wait", "Devices wait in a collective for others, as a watchdog's log tells.")
