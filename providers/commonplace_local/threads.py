"""How many threads an engine may compute with."""

from __future__ import annotations

import math
import os

__all__ = ["allowed_cpus", "default_threads"]

_MOST = 4


def default_threads(*, root: str = "/") -> int:
    """One less than the physical cores that this process may use, 1 to 4.

    The engine's threads spin at every barrier: one too many on a busy machine makes it many times
    slower, so one core is left to others, and two cores or fewer get one thread.
    """
    cpus = allowed_cpus()
    quota = _quota(root)
    usable = len(cpus) if quota is None else min(len(cpus), max(1, math.ceil(quota)))
    if usable <= 2:
        return 1
    cores = min(usable, _physical(cpus, root) or usable)
    return min(_MOST, max(1, cores - 1))


def allowed_cpus() -> frozenset[int]:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _quota(root: str) -> float | None:
    """Processors' worth of time that the container is given, where it is limited."""
    try:
        with open(os.path.join(root, "sys/fs/cgroup/cpu.max")) as file:
            most, period = file.read().split()
        return int(most) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # "max" is no number: no limit
        pass
    base = os.path.join(root, "sys/fs/cgroup/cpu")
    try:
        with open(os.path.join(base, "cpu.cfs_quota_us")) as file:
            most_us = int(file.read())
        with open(os.path.join(base, "cpu.cfs_period_us")) as file:
            period_us = int(file.read())
    except (OSError, ValueError):
        return None
    return most_us / period_us if most_us > 0 and period_us > 0 else None


def _physical(cpus: frozenset[int], root: str) -> int | None:
    """Physical cores among ``cpus``; ``None`` where the system does not say."""
    cores = set()
    for cpu in cpus:
        topology = os.path.join(root, f"sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            with open(os.path.join(topology, "thread_siblings_list")) as file:
                cores.add(file.read().strip())
        except OSError:
            return None
    return len(cores) or None
