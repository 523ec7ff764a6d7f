import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { redactAddress, typeName, validateLoopback } from "./validation.js";
import type { Channel } from "./channel.js";
import { gameIdHeader } from "./channel.js";
import { USER_AGENT } from "./version.js";

/**
 * Return a channel over gRPC-Web. `fetch` manages the connections.
 *
 * @throws TypeError if the target is not an http or https URL, or is another host without TLS and `allowInsecure` is false.
 */
export function webChannel(target: string, allowInsecure = false): Channel {
  const url = validateUrl(target);
  if (url.protocol === "http:" && !allowInsecure) {
    validateLoopback(target, url, "Use an https URL");
  }
  return {
    target,
    tls: url.protocol === "https:",
    transport: createGrpcWebTransport({ baseUrl: url.href }),
    headers: (gameId) => ({
      // Browsers do not let a page set User-Agent.
      "x-user-agent": USER_AGENT,
      ...gameIdHeader(gameId),
    }),
    checkConnection: () => undefined,
    close: () => undefined,
  };
}

function validateUrl(target: unknown): URL {
  if (typeof target !== "string") {
    throw new TypeError(`the URL must be a string such as "https://games.example", not ${typeName(target)}`);
  }
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(
      `the URL ${redactAddress(target)} must be an http or https URL such as "https://games.example"`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError(
      'the URL must not have credentials, a query or a fragment: use a URL such as "https://games.example"',
    );
  }
  return url;
}
