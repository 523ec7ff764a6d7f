"""Looks at the load generator itself: whether it, and not the service, was what made things slow."""

import time
from typing import Final

import gevent

from clients.loadtest.recorder import Recorder

EVERY_SECONDS: Final = 1.0
BEAT_SECONDS: Final = 0.05


def look_on(recorder: Recorder, process: str) -> None:
    """Takes down, once a second until it is killed, the CPU that this process took and how far it fell behind.

    A greenlet that wants to go on every twentieth of a second tells the latter: what it waits for too long, every
    seat waited for.
    """
    beaten, used, longest = time.monotonic(), time.process_time(), 0.0
    sampled = beaten
    while True:
        gevent.sleep(BEAT_SECONDS)
        now = time.monotonic()
        longest = max(longest, now - beaten - BEAT_SECONDS)
        beaten = now
        if now - sampled >= EVERY_SECONDS:
            cpu = time.process_time()
            if recorder.is_under_way:
                percent = 100 * (cpu - used) / (now - sampled)
                recorder.samples.append((process, round(now - recorder.began, 1), round(percent, 1), round(longest, 4)))
            sampled, used, longest = now, cpu, 0.0
