"""Certificates for servers and clients under test."""

from pathlib import Path
from typing import NamedTuple

import grpc
import trustme


class Pair(NamedTuple):
    """A certificate and its key, in files."""

    certificate: Path
    key: Path


class Authority:
    """An authority.

    Attributes:
        file: its certificate.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(self, name: str, *hosts: str) -> Pair:
        """Write a new certificate to files of this name, replacing those that exist, as Kubernetes does."""
        issued = self._authority.issue_cert(*hosts)
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        for path, content in zip(pair, (chain, issued.private_key_pem.bytes()), strict=True):
            temporary = path.with_suffix(".new")
            temporary.write_bytes(content)
            temporary.replace(path)
        return pair

    def credentials(self, client: Pair | None = None) -> grpc.ChannelCredentials:
        """Return the credentials of a client that trusts this authority, with a certificate of its own or without."""
        certificate, key = (None, None) if client is None else (path.read_bytes() for path in client)
        return grpc.ssl_channel_credentials(self.file.read_bytes(), key, certificate)
