"""The gateway: Envoy in front of the service, for REST with JSON, Server-Sent Events and gRPC-Web.

Envoy does the work, by one template (deploy/envoy/envoy.yaml) and the contract itself. Here the template is filled in,
and on a laptop Envoy is run beside the service.
"""

from service.gateway.config import CONFIG_NAME, DESCRIPTORS_NAME, Gateway, write_config
from service.gateway.process import CannotRunGateway, running_gateway

__all__ = ["CONFIG_NAME", "DESCRIPTORS_NAME", "CannotRunGateway", "Gateway", "running_gateway", "write_config"]
