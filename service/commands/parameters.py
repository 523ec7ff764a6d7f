"""Parameter types and helpers that several subcommands share."""

import ipaddress
import re
import sys
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

import click

from service.server.settings import PREFIX

F = TypeVar("F", bound=Callable[..., Any])

_ORIGIN: Final = re.compile(
    r"\*|https?://(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?(:[0-9]{1,5})?|https?://\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?"
)
_MAX_DURATION_MS: Final = 3650 * 86_400_000
_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Duration(click.ParamType[int]):
    """A duration such as `90s`, `12h` or `7d`, in milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a duration."""
        if isinstance(value, int):
            return value
        if not (match := re.fullmatch(r"([1-9][0-9]{0,8})(ms|s|m|h|d)", value)):
            self.fail(f"{value!r} is not a duration such as 90s, 12h or 7d", param, ctx)
        duration = int(match[1]) * _UNITS[match[2]]
        if duration > _MAX_DURATION_MS:
            self.fail(f"{value!r} is more than ten years", param, ctx)
        return duration


class Origin(click.ParamType[str]):
    """The origin of web pages; `*` for any, `https://*.app.example` for every subdomain."""

    name = "origin"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Parse an origin."""
        origin: str = value.strip()
        if not _ORIGIN.fullmatch(origin):
            self.fail(f"{origin!r} is not an origin such as https://app.example or https://*.app.example", param, ctx)
        return origin.lower()  # as browsers write it


class Origins(click.ParamType[tuple[str, ...]]):
    """Origins separated by commas."""

    name = "origins"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Parse origins."""
        if not isinstance(value, str):
            return tuple(value)
        return tuple(Origin().convert(origin, param, ctx) for origin in value.split(","))


class Networks(click.ParamType[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]]):
    """Addresses or networks of IP, separated by commas."""

    name = "networks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """Parse networks."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            return tuple(ipaddress.ip_network(part.strip()) for part in value.split(",") if part.strip())
        except ValueError:
            self.fail(f"{value!r} is not a list of networks such as 10.0.0.0/8", param, ctx)


def setting(flag: str, *, env: str = "", help: str, **kwargs: Any) -> Callable[[F], F]:  # noqa: A002 - click's name
    """Declare a setting: a flag, and an environment variable with the same name."""
    variable = PREFIX + (env or flag.removeprefix("--").replace("-", "_").upper())
    return click.option(flag, envvar=variable, show_envvar=True, show_default=True, help=help, **kwargs)


def fail(problem: str, *, status: int = 2) -> NoReturn:
    """Print an error and exit."""
    printable = "".join(char if char.isprintable() else "?" for char in problem)  # it may quote a server
    click.echo(f"sodafountain: {printable}", err=True)
    sys.exit(status)
