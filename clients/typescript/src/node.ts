/**
 * Client of the Soda Fountain game service, over gRPC: for Node.
 *
 * @module
 */

import { Client } from "./client.js";
import type { ClientOptions } from "./client.js";
import { grpcChannel } from "./node/grpc-channel.js";
import type { TlsOptions } from "./node/tls.js";

export * from "./public-api.js";
export type { TlsOptions } from "./node/tls.js";

/** How to connect over gRPC. */
export interface ConnectOptions extends ClientOptions {
  /** Whether to use TLS with the public certificate authorities, or how else; plain text if left out. */
  readonly tls?: boolean | TlsOptions | undefined;
}

/**
 * Makes a client of the service at an address, over gRPC. The connection is made with the first call.
 *
 * @param target - the address, `host:port`; an IPv6 address stands in brackets.
 * @param options - TLS, API key and deadline.
 * @throws {@link SodaFountainError} with reason `API_KEY_INVALID`: no key looks like that; it is empty, or has white space in
 * it, at its ends for instance.
 * @throws TypeError: the target is no address, the deadline no number, or a certificate or key none.
 * @throws RangeError: the port is none, or the deadline not positive.
 */
export function connect(target = "localhost:50051", options: ConnectOptions = {}): Client {
  return new Client(grpcChannel(target, options.tls ?? false), options);
}
