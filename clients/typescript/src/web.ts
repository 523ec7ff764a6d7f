/**
 * Client of the Soda Fountain game service over gRPC-Web, for browsers and other environments with `fetch`.
 *
 * @module
 */

import { Client } from "./client.js";
import type { ClientOptions } from "./client.js";
import { webChannel } from "./web-channel.js";

export * from "./public-api.js";

/**
 * Create a client over gRPC-Web. Connections are opened by the first call.
 *
 * @param url - the URL of the service's gateway, such as `https://games.example`.
 * @param options - API key and deadline.
 * @throws {@link SodaFountainError} with reason `API_KEY_INVALID`: the key is empty or has whitespace in it, such as a
 * line break at its end.
 * @throws TypeError: the URL is not an http or https URL, or is an http URL of another host without `allowInsecure`; the
 * deadline is not a number.
 * @throws RangeError: the deadline is not positive.
 */
export function connect(url: string, options: ClientOptions = {}): Client {
  return new Client(webChannel(url, options.allowInsecure ?? false), options);
}
