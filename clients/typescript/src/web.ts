/**
 * Client of the Soda Fountain game service, over gRPC-Web: for browsers, and for whatever else has `fetch`.
 *
 * @module
 */

import { Client } from "./client.js";
import type { ClientOptions } from "./client.js";
import { webChannel } from "./web-channel.js";

export * from "./public-api.js";

/**
 * Makes a client of the service at a URL, over gRPC-Web. Connections are made with the first call.
 *
 * @param url - where the service's gateway is, `https://games.example` for instance.
 * @param options - API key and deadline.
 * @throws {@link SodaFountainError} with reason `API_KEY_INVALID`: no key looks like that; it is empty, or has white space in
 * it, at its ends for instance.
 * @throws TypeError: the URL is none of http or https, or the deadline no number.
 * @throws RangeError: the deadline is not positive.
 */
export function connect(url: string, options: ClientOptions = {}): Client {
  return new Client(webChannel(url), options);
}
