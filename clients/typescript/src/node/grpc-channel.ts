import { createGrpcTransport } from "@connectrpc/connect-node";

import { redactAddress, typeName, validateLoopback } from "../validation.js";
import type { Channel } from "../channel.js";
import { gameIdHeader } from "../channel.js";
import { USER_AGENT } from "../version.js";
import { Connection } from "./connection.js";
import type { TlsOptions } from "./tls.js";
import { secureContext } from "./tls.js";

/** Matches a host, or an IPv6 address in brackets, and a port. */
const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/@?#[\]\\]+):(?<port>[0-9]{1,5})$/;
const MAX_PORT = 65535;
const EXPECTED = 'use host:port, such as "localhost:50051"';

/**
 * Return a channel over gRPC.
 *
 * @throws TypeError if the target is not `host:port`, or is another host without TLS and `allowInsecure` is false, or a
 * certificate or key is invalid.
 * @throws RangeError if the port is out of range.
 */
export function grpcChannel(target: string, tls: boolean | TlsOptions, allowInsecure = false): Channel {
  const address = validateTarget(target);
  const secure = tls !== false;
  const baseUrl = `${secure ? "https" : "http"}://${address}`;
  if (!secure && !allowInsecure) {
    validateLoopback(target, new URL(baseUrl), "Use the option tls");
  }
  const connection = new Connection(baseUrl, secure ? { secureContext: secureContext(tls === true ? {} : tls) } : {});
  return {
    target,
    tls: secure,
    transport: createGrpcTransport({ baseUrl, sessionManager: connection }),
    headers: (gameId) => ({ "user-agent": USER_AGENT, ...gameIdHeader(gameId) }),
    checkConnection: () => {
      connection.check();
    },
    close: () => {
      connection.close();
    },
  };
}

function validateTarget(target: unknown): string {
  if (typeof target !== "string") {
    throw new TypeError(`target must be a string such as "localhost:50051", not ${typeName(target)}`);
  }
  const redacted = redactAddress(target);
  if (target.includes("://")) {
    throw new TypeError(
      `target ${redacted} is a URL: ${EXPECTED}, or connect to a URL with "@sodafountain/client/web"`,
    );
  }
  const port = HOST_AND_PORT.exec(target)?.groups?.["port"];
  const invalid = `target ${redacted} is not host:port (put an IPv6 address in brackets): ${EXPECTED}`;
  if (port === undefined) {
    throw new TypeError(invalid);
  }
  if (!(Number(port) >= 1 && Number(port) <= MAX_PORT)) {
    throw new RangeError(`target ${redacted} must have a port from 1 to ${MAX_PORT}: ${EXPECTED}`);
  }
  if (!URL.canParse(`http://${target}`)) {
    throw new TypeError(invalid); // such as an IPv4 address with a number above 255
  }
  return target;
}
