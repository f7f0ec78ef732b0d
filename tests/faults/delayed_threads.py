"""A plugin of pytest that delays threads, as a busy machine does: tests must pass all the same.

``DELAY_SEED=2 python -m pytest -p tests.faults.delayed_threads tests/core/sync`` lets every thread
but the main one sleep ``DELAY_SECONDS`` (0.02) at a ``DELAY_SHARE`` (0.05) of the calls and returns
of the project's functions. Tests that measure time fail by its own weight.
"""

from __future__ import annotations

import os
import random
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

SHARE = float(os.environ.get("DELAY_SHARE", "0.05"))
SECONDS = float(os.environ.get("DELAY_SECONDS", "0.02"))

_random = random.Random(int(os.environ.get("DELAY_SEED", "1")))


def _delay(frame: FrameType, event: str, _: object) -> None:
    ours = event in ("call", "return") and "/commonplace" in frame.f_code.co_filename
    if ours and _random.random() < SHARE:
        time.sleep(SECONDS)


threading.setprofile(_delay)
