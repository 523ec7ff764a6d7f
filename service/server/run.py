"""`sodafountain serve`: from flags to one serving process or several, until a stop signal."""

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
from prometheus_client import CollectorRegistry

from service.access import parse_api_keys, parse_encryption_keys, parse_token_keys
from service.gateway import CannotRunGateway, Gateway, ListenerTls, running_gateway
from service.network import CannotListen, check_address, local_url_host
from service.observability import logs, metrics
from service.server.active_format import FormatNotSupported
from service.server.composition import CannotUseStore, bind, check_store, tracing_to
from service.server.keys import CannotReadKeys, embedded_token_keys, read_secret, warn_if_readable_by_all
from service.server.settings import PREFIX, Settings, default_data_dir
from service.server.stopping import StopEvent
from service.server.supervisor import LogSettings, WorkerFailed, supervise
from service.server.tls import CannotReadCertificate, TlsFiles
from service.server.tls import check as check_certificate
from service.store import connect
from service.store.embedded import EmbeddedStoreError, EmbeddedValkey, valkey_binary

_ENCRYPTION_KEYS: Final = PREFIX + "ENCRYPTION_KEYS"
_SECRETS: Final = (PREFIX + "TOKEN_KEYS", PREFIX + "API_KEYS", _ENCRYPTION_KEYS)

T = TypeVar("T")

_log = structlog.get_logger()


class CannotServe(Exception):
    """The service cannot start: a setting is invalid, or the address or the data directory is in use."""


def run(values: Mapping[str, Any], *, known_variables: Collection[str]) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP.

    Args:
        values: the settings, by the names of their flags.
        known_variables: the environment variables of the settings.

    Raises:
        CannotServe: the service cannot start.
    """
    logs.configure(level=values["log_level"], fmt=values["log_format"])
    stop = StopEvent()
    _warn_of_unknown_variables(known_variables)
    _check_distinct_ports(values)
    try:
        check_address(values["host"], values["port"])
        if values["health_port"] is not None:
            check_address(values["host"], values["health_port"])
        with tracing_to(values["traces_endpoint"]):  # raises before anything is started, once instead of in each worker
            pass
        with ExitStack() as closers:
            _serve(values, stop, closers)
    except (
        CannotListen,
        CannotReadCertificate,
        CannotReadKeys,
        CannotUseStore,
        EmbeddedStoreError,
        FormatNotSupported,
        WorkerFailed,
        ValueError,
    ) as error:
        raise CannotServe(str(error)) from None


def _serve(values: Mapping[str, Any], stop: StopEvent, closers: ExitStack) -> None:
    store_url = values["store_url"]
    token_keys, api_keys, encryption_keys = (_secret(values, variable) for variable in _SECRETS)
    ensure_store = None
    if not store_url:
        valkey_binary()  # raises if there is no embedded store, for which a directory would not help
        data_dir = values["data_dir"] or default_data_dir()
        try:
            embedded = closers.enter_context(EmbeddedValkey(data_dir, fsync=values["embedded_fsync"]))
        except OSError as error:
            raise CannotServe(str(error)) from None
        store_url, ensure_store = embedded.url, embedded.ensure_running
        token_keys = token_keys or embedded_token_keys(data_dir)
    elif not token_keys:
        raise CannotServe(
            "--store-url requires token keys: `sodafountain keygen` generates one for --token-keys-file or "
            f"{_SECRETS[0]}"
        )
    settings = _settings(values, store_url, token_keys, api_keys, encryption_keys)
    if not settings.api_keys and (settings.max_live_games or settings.max_new_games):
        _log.warning(
            "quota_shared", problem="without API keys, one caller can use up the quota of all", advice="--api-keys-file"
        )
    sockets = _enter_with_directory(_sockets(values), closers)
    if values["workers"] == 1:
        own_metrics = metrics.Metrics()
        _serve_metrics(values, own_metrics.registry, closers)
        settings = replace(settings, socket=sockets[0])
        with (
            bind(settings, metrics=own_metrics, before_store_check=ensure_store) as server,
            _gateway(values, sockets, api_keys=bool(api_keys)),
        ):
            stop.wait()
            server.drain()
    else:
        _serve_metrics(values, _enter_with_directory(metrics.shared(), closers), closers)
        with closing(connect(store_url, durable_replicas=settings.durable_replicas)) as store:
            check_store(store)  # raises once instead of in each worker
        supervise(
            settings,
            LogSettings(values["log_level"], values["log_format"]),
            sockets,
            stop,
            gateway=lambda ready: _gateway(values, sockets if ready else (), api_keys=bool(api_keys)),
            ensure_store=ensure_store,
        )


def _enter_with_directory(context: AbstractContextManager[T], closers: ExitStack) -> T:
    """Enter a context that needs a temporary directory.

    Raises:
        CannotServe: no temporary directory is writable.
    """
    try:
        return closers.enter_context(context)
    except OSError:
        raise CannotServe("no temporary directory is writable; TMPDIR can select another") from None


def _serve_metrics(values: Mapping[str, Any], registry: CollectorRegistry, closers: ExitStack) -> None:
    """Serve metrics until `closers` closes, if a port is set.

    Raises:
        CannotListen: the address is in use or not local.
    """
    if (port := values["metrics_port"]) is not None:
        host = values["host"]
        check_address(host, port)
        try:
            port = closers.enter_context(metrics.serving(host, port, registry))
        except OSError as error:
            raise CannotListen(f"cannot serve metrics on {host}:{port}: {error.strerror}") from None
        _log.info("metrics", url=f"http://{local_url_host(host)}:{port}/metrics", port=port)


def _secret(values: Mapping[str, Any], variable: str) -> str:
    path = values[f"{variable.removeprefix(PREFIX).lower()}_file"]
    secret = read_secret(path, variable)
    if not secret and variable in os.environ and variable == _ENCRYPTION_KEYS:
        raise CannotReadKeys(f"{variable} is empty; without it, games are stored in the clear")
    if path is not None:
        warn_if_readable_by_all(path)
    return secret


def _settings(
    values: Mapping[str, Any], store_url: str, token_keys: str, api_keys: str, encryption_keys: str
) -> Settings:
    return Settings(
        host=values["host"],
        port=values["port"],
        threads=values["threads"],
        max_calls=values["max_calls"],
        health_port=values["health_port"],
        tls=_tls_files(values),
        max_connections=values["max_connections"],
        connection_idle_seconds=values["max_connection_idle"] / 1000,
        connection_age_seconds=values["max_connection_age"] / 1000,
        max_watchers=values["max_watchers"],
        max_spectators=values["max_spectators"],
        max_spectators_per_game=values["max_spectators_per_game"],
        max_watchers_per_caller=values["max_watchers_per_caller"],
        trusted_proxies=values["trusted_proxies"],
        heartbeat_seconds=values["heartbeat"] / 1000,
        store_url=store_url,
        durable_replicas=values["durable_replicas"],
        token_keys=parse_token_keys(token_keys),
        api_keys=parse_api_keys(api_keys) if api_keys else {},
        encryption_keys=parse_encryption_keys(encryption_keys) if encryption_keys else {},
        idle_ms=values["idle_ttl"],
        finished_ms=values["finished_ttl"],
        cached_games=values["cached_games"],
        max_live_games=values["max_live_games"],
        max_new_games=values["max_new_games"],
        new_games_window_ms=values["new_games_window"],
        traces_endpoint=values["traces_endpoint"],
        allow_fixed_seed=values["allow_fixed_seed"],
        drain_seconds=values["drain"] / 1000,
        port_file=values["port_file"],
    )


def _tls_files(values: Mapping[str, Any]) -> TlsFiles | None:
    """Return the files of the certificate for callers, after checking them.

    Raises:
        CannotServe: settings of TLS are missing.
        CannotReadCertificate: the files are not valid.
    """
    certificate, key, authorities = (values[f"tls_{name}_file"] for name in ("cert", "key", "client_ca"))
    if certificate is None and key is None and authorities is None:
        return None
    if certificate is None or key is None:
        raise CannotServe("TLS requires both --tls-cert-file and --tls-key-file")
    files = TlsFiles(certificate, key, authorities)
    check_certificate(files)
    return files


def _check_distinct_ports(values: Mapping[str, Any]) -> None:
    """Check that the service does not listen on one port for two purposes.

    Raises:
        CannotServe: two settings name the same port.
    """
    ports = {name: values[name] for name in ("port", "health_port", "rest_port", "metrics_port") if values[name]}
    for first, second in combinations(ports, 2):
        if ports[first] == ports[second]:
            flags = (f"--{name.replace('_', '-')}" for name in (first, second))
            raise CannotServe(f"{' and '.join(flags)} must differ, but both are {ports[first]}")


def _warn_of_unknown_variables(known: Collection[str]) -> None:
    """Log environment variables that look like settings but are not; a typo would otherwise be ignored silently."""
    kubernetes = re.compile(rf"{PREFIX}(SERVICE_(HOST|PORT).*|PORT_[0-9]+_.*)")  # set for a Service of that name
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in {*known, *_SECRETS} and not kubernetes.fullmatch(name):
            _log.warning("setting_unknown", variable=name)


@contextmanager
def _sockets(values: Mapping[str, Any]) -> Iterator[Sequence[Path | None]]:
    """Yield a path for a private Unix socket for each worker, if there is a gateway.

    Through the port that all workers share, the gateway could not select the worker that has a game in its cache.
    """
    if values["rest_port"] is None:
        yield (None,) * values["workers"]
        return
    with tempfile.TemporaryDirectory(prefix="sf-workers-") as folder:
        yield tuple(Path(folder, str(number)) for number in range(values["workers"]))


@contextmanager
def _gateway(values: Mapping[str, Any], sockets: Sequence[Path | None], *, api_keys: bool) -> Iterator[None]:
    """Run a gateway within the block if it is configured. Log a warning if it cannot run."""
    port = values["rest_port"]
    services = [str(socket) for socket in sockets if socket is not None]
    if not services:
        yield
        return
    gateway = Gateway(
        host=values["host"],
        port=port,
        admin="",
        services=services,
        # A service with API keys is not for everyone, so its web pages must be named.
        origins=values["rest_origins"] if values["rest_origins"] is not None else () if api_keys else ("*",),
        tls=None if (files := _tls_files(values)) is None else ListenerTls(*files),
        rate=values["rest_rate"],
        caller_rate=values["rest_rate_per_caller"],
        trusted_hops=values["rest_trusted_hops"],
    )
    with ExitStack() as closers:
        try:
            closers.enter_context(running_gateway(gateway))
        except (CannotRunGateway, OSError) as error:
            _log.warning("no_gateway", problem=str(error), advice="gRPC is served nevertheless")
        else:
            _log.info(
                "gateway",
                rest=f"{'http' if gateway.tls is None else 'https'}://{local_url_host(values['host'])}:{port}/v1",
                port=port,
            )
        yield
