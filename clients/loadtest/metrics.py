"""Reads what a service counts, from its metrics in Prometheus' text."""

import sys
import urllib.request
from http.client import HTTPException
from typing import Final
from urllib.parse import urlsplit, urlunsplit

SECONDS: Final = 5.0


def url_of(text: str) -> str:
    """Reads the URL of metrics; it may be empty, for none.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError(f"{text!r} is not a URL such as 'http://localhost:9464/metrics'")
    return text


def public(url: str) -> str:
    """A URL without the user and the password that it may name."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def total(url: str, name: str) -> float:
    """What the service counts under a name, all labels together.

    Raises:
        OSError, HTTPException: the metrics cannot be fetched.
        ValueError: it is no URL, or there are no metrics.
    """
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 (what the caller named)
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


def lost_races(url: str) -> float | None:
    """What the service has counted of moves that another came before; None where its metrics cannot be read."""
    if not url:
        return None
    try:
        return total(url, "sodafountain_lost_races_total")
    except (OSError, HTTPException, ValueError) as error:
        print(f"The metrics cannot be read: {error}", file=sys.stderr)
        return None
