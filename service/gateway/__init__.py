"""The gateway: Envoy in front of the service, for REST with JSON, Server-Sent Events and gRPC-Web.

Envoy is configured by a template (deploy/envoy/envoy.yaml) and the contract itself. This package renders the template.
For `sodafountain serve --rest-port`, it also runs Envoy as a child process.
"""

from service.gateway.config import CONFIG_NAME, DESCRIPTORS_NAME, Gateway, write_config
from service.gateway.process import CannotRunGateway, running_gateway
from service.gateway.tls import ListenerTls, ServiceTls

__all__ = [
    "CONFIG_NAME",
    "DESCRIPTORS_NAME",
    "CannotRunGateway",
    "Gateway",
    "ListenerTls",
    "ServiceTls",
    "running_gateway",
    "write_config",
]
