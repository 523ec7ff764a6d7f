"""Sample the load generator itself, to find out whether it was the bottleneck instead of the service."""

import time
from typing import Final

import gevent

from clients.loadtest.recorder import Recorder

SAMPLE_SECONDS: Final = 1.0
TICK_SECONDS: Final = 0.05


def sample_process(recorder: Recorder, process: str) -> None:
    """Record the CPU usage and the longest event loop delay of this process once a second, until killed.

    The delay is measured by a greenlet that wakes up every `TICK_SECONDS`: if it wakes up late, all seats do too.
    """
    last_tick, last_cpu, longest = time.monotonic(), time.process_time(), 0.0
    last_sample = last_tick
    while True:
        gevent.sleep(TICK_SECONDS)
        now = time.monotonic()
        longest = max(longest, now - last_tick - TICK_SECONDS)
        last_tick = now
        if now - last_sample >= SAMPLE_SECONDS:
            cpu = time.process_time()
            if recorder.is_measuring:
                percent = 100 * (cpu - last_cpu) / (now - last_sample)
                second = round(now - recorder.started, 1)
                recorder.samples.append((process, second, round(percent, 1), round(longest, 4)))
            last_sample, last_cpu, longest = now, cpu, 0.0
