"""TLS for callers: certificates from files, which are read again when they change."""

import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

import grpc
import structlog

_log = structlog.get_logger()


class TlsFiles(NamedTuple):
    """The files of a server's certificate, PEM.

    Attributes:
        certificate: the certificate and those of its issuers.
        key: its private key, without a password.
        client_authorities: the certificates of the authorities of which callers must have a certificate; None accepts
            callers without.
    """

    certificate: Path
    key: Path
    client_authorities: Path | None = None


class CannotReadCertificate(Exception):
    """A certificate or its key cannot be read, or they do not belong together; the text says which file."""


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """Return credentials that follow the files: every new connection gets the newest valid certificate.

    Files that do not belong together, such as while they are being replaced, are ignored until they do.

    Raises:
        CannotReadCertificate: the files are not valid now.
    """
    follower = _Follower(files)  # before the files are read, so that no change is missed
    return grpc.dynamic_ssl_server_credentials(
        _load(files),
        cast("Callable[[], grpc.ServerCertificateConfiguration]", follower.changed),  # None means no change
        require_client_authentication=files.client_authorities is not None,
    )


def check(files: TlsFiles) -> None:
    """Check the files.

    Raises:
        CannotReadCertificate: they are not valid.
    """
    _load(files)


class _Follower:
    """Reads the files again when they have changed. Thread-safe."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._seen = _version(files)

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """Return the new certificate; None if it has not changed. Called for every new connection."""
        with self._lock:
            if (version := _version(self._files)) == self._seen:
                return None
            self._seen = version
        try:
            loaded = _load(self._files)
        except CannotReadCertificate as error:
            _log.error("certificate_invalid", problem=str(error), advice="the previous certificate is still used")
            return None
        _log.info("certificate_loaded", file=str(self._files.certificate))
        return loaded


def _version(files: TlsFiles) -> tuple[tuple[int, int, int], ...] | None:
    try:
        stats = [path.stat() for path in files if path is not None]
    except OSError:
        return None
    return tuple((stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in stats)


def _load(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
    except (OSError, ValueError) as error:  # includes ssl.SSLError
        raise CannotReadCertificate(
            f"the certificate {files.certificate} with the key {files.key} is not valid: {_reason(error)}"
        ) from None
    authorities = files.client_authorities
    if authorities is not None:
        try:
            context.load_verify_locations(authorities)
        except OSError as error:
            raise CannotReadCertificate(f"the certificates {authorities} are not valid: {_reason(error)}") from None
    try:
        return grpc.ssl_server_certificate_configuration(
            [(files.key.read_bytes(), files.certificate.read_bytes())],
            root_certificates=None if authorities is None else authorities.read_bytes(),
        )
    except OSError as error:
        raise CannotReadCertificate(f"the certificate or its key cannot be read: {_reason(error)}") from None


def _no_password() -> str:
    raise ValueError("the key has a password")


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
