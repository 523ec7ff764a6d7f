import { createGrpcTransport } from "@connectrpc/connect-node";

import { nameOf, redactAddress } from "../validation.js";
import type { Channel } from "../channel.js";
import { USER_AGENT } from "../version.js";
import { Connection } from "./connection.js";
import type { TlsOptions } from "./tls.js";
import { secureContext } from "./tls.js";

/** A host, or an IPv6 address in brackets, and a port. */
const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/@?#[\]\\]+):(?<port>[0-9]{1,5})$/;
const LARGEST_PORT = 65535;
const RIGHT = 'give host:port, "localhost:50051" for instance';

/**
 * Makes a channel over gRPC.
 *
 * @throws TypeError where the target is no address, or a certificate or key cannot be read.
 * @throws RangeError where the port is none.
 */
export function grpcChannel(target: string, tls: boolean | TlsOptions): Channel {
  const address = validateTarget(target);
  const secure = tls !== false;
  const baseUrl = `${secure ? "https" : "http"}://${address}`;
  const connection = new Connection(baseUrl, secure ? { secureContext: secureContext(tls === true ? {} : tls) } : {});
  return {
    target,
    tls: secure,
    transport: createGrpcTransport({ baseUrl, sessionManager: connection }),
    headers: () => ({ "user-agent": USER_AGENT }),
    checkConnection: () => {
      connection.checkConnection();
    },
    close: () => {
      connection.close();
    },
  };
}

function validateTarget(target: unknown): string {
  if (typeof target !== "string") {
    throw new TypeError(`the target must be a string, "localhost:50051" for instance, not ${nameOf(target)}`);
  }
  const shown = redactAddress(target);
  if (target.includes("://")) {
    throw new TypeError(`the target ${shown} is a URL: ${RIGHT}; "@sodafountain/client/web" takes URLs`);
  }
  const port = HOST_AND_PORT.exec(target)?.groups?.["port"];
  const isNone = `the target ${shown} is not host:port (an IPv6 address stands in brackets): ${RIGHT}`;
  if (port === undefined) {
    throw new TypeError(isNone);
  }
  if (!(Number(port) >= 1 && Number(port) <= LARGEST_PORT)) {
    throw new RangeError(`the target ${shown} has no port from 1 to ${LARGEST_PORT}: ${RIGHT}`);
  }
  if (!URL.canParse(`http://${target}`)) {
    throw new TypeError(isNone); // of a host that looks like one, numbers out of range for instance
  }
  return target;
}
