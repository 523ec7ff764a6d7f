"""Read counters from the service's Prometheus metrics."""

import math
import sys
import urllib.request
from http.client import HTTPException
from typing import Final
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

TIMEOUT_SECONDS: Final = 5.0


def parse_metrics_url(text: str) -> str:
    """Return the URL of the metrics unchanged if it is valid or empty.

    Raises:
        ValueError: the URL is invalid. The message omits user information, which may contain a password.
    """
    try:
        parts = urlsplit(text)
        # urllib cannot fetch a URL with user information in it.
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in text
    except ValueError:
        valid = False
    if text and not valid:
        shown = text.rpartition("@")[2]
        raise ValueError(f"metrics must be a URL such as 'http://localhost:9464/metrics', not {shown!r}")
    return text


def read_counter(url: str, name: str) -> float:
    """Return the sum of a metric over all its labels.

    Raises:
        OSError, HTTPException: the metrics cannot be fetched.
        ValueError: the URL is invalid, or the response has no such metric.
    """
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 (the user's own URL)
        families = list(text_string_to_metric_families(answer.read().decode()))
    found = [sample.value for family in families for sample in family.samples if sample.name == name]
    if not found or not math.isfinite(sum(found)):
        raise ValueError(f"the response has no value for {name}")
    return sum(found)


def read_lost_races(url: str) -> float | None:
    """Return how many commits lost a race since the service started, or None if the metrics cannot be read."""
    if not url:
        return None
    try:
        return read_counter(url, "sodafountain_lost_races_total")
    except (OSError, HTTPException, ValueError) as error:
        print(f"Cannot read the metrics: {error}", file=sys.stderr)
        return None
