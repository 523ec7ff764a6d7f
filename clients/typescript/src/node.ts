/**
 * Client of the Soda Fountain game service for Node, over gRPC.
 *
 * @module
 */

import { Client } from "./client.js";
import type { ClientOptions } from "./client.js";
import { grpcChannel } from "./node/grpc-channel.js";
import type { TlsOptions } from "./node/tls.js";

export * from "./public-api.js";
export type { TlsOptions } from "./node/tls.js";

/** Options of {@link connect}. */
export interface ConnectOptions extends ClientOptions {
  /** Whether to use TLS: true to trust the public certificate authorities, or {@link TlsOptions}. Default: false. */
  readonly tls?: boolean | TlsOptions | undefined;
}

/**
 * Create a client over gRPC. The connection is opened by the first call.
 *
 * @param target - the address of the service, `host:port`; an IPv6 address is in brackets.
 * @param options - TLS, API key and deadline.
 * @throws {@link SodaFountainError} with reason `API_KEY_INVALID`: the key is empty or has whitespace in it, such as a
 * line break at its end.
 * @throws TypeError: the target is not an address, or is another host without TLS and without `allowInsecure`; the deadline is not a number, or a certificate or key is invalid.
 * @throws RangeError: the port is out of range, or the deadline is not positive.
 */
export function connect(target = "localhost:50051", options: ConnectOptions = {}): Client {
  return new Client(grpcChannel(target, options.tls ?? false, options.allowInsecure ?? false), options);
}
