"""Reads what a service counts, from its metrics in Prometheus' text."""

import math
import sys
import urllib.request
from http.client import HTTPException
from typing import Final
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

SECONDS: Final = 5.0


def url_of(text: str) -> str:
    """Reads the URL of metrics; it may be empty, for none.

    Raises:
        ValueError: it is none. What may be a password in it is not told.
    """
    try:
        parts = urlsplit(text)
        # With a user in it, nothing could be fetched.
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in text
    except ValueError:
        right = False
    if text and not right:
        raise ValueError(f"{text.rpartition('@')[2]!r} is not a URL such as 'http://localhost:9464/metrics'")
    return text


def total(url: str, name: str) -> float:
    """What the service counts under a name, all labels together.

    Raises:
        OSError, HTTPException: the metrics cannot be fetched.
        ValueError: it is no URL, or no metrics that tell it are there.
    """
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 (what the caller named)
        families = list(text_string_to_metric_families(answer.read().decode()))
    found = [sample.value for family in families for sample in family.samples if sample.name == name]
    if not found or not math.isfinite(sum(found)):
        raise ValueError(f"they do not tell {name}")
    return sum(found)


def lost_races(url: str) -> float | None:
    """What the service has counted of moves that another came before; None where its metrics cannot be read."""
    if not url:
        return None
    try:
        return total(url, "sodafountain_lost_races_total")
    except (OSError, HTTPException, ValueError) as error:
        print(f"The metrics cannot be read: {error}", file=sys.stderr)
        return None
