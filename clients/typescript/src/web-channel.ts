import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { nameOf, redactAddress } from "./validation.js";
import type { Channel } from "./channel.js";
import { USER_AGENT } from "./version.js";

/** What a header can hold without being changed. */
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Makes a channel over gRPC-Web, by `fetch`, which keeps the connections itself.
 *
 * @throws TypeError where it is no URL of http or https.
 */
export function webChannel(target: string): Channel {
  const url = validateUrl(target);
  return {
    target,
    tls: url.protocol === "https:",
    transport: createGrpcWebTransport({ baseUrl: url.href }),
    headers: (gameId) => ({
      // In the place of User-Agent, which is the browser's own.
      "x-user-agent": USER_AGENT,
      // A game's calls meet the same service, which remembers the game.
      ...(gameId !== undefined && VISIBLE.test(gameId) ? { "x-game-id": gameId } : {}),
    }),
    checkConnection: () => undefined,
    close: () => undefined,
  };
}

function validateUrl(target: unknown): URL {
  if (typeof target !== "string") {
    throw new TypeError(`the URL must be a string, "https://games.example" for instance, not ${nameOf(target)}`);
  }
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TypeError(
      `${redactAddress(target)} is no URL of http or https: give one, "https://games.example" for instance`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("the URL must have no user, query or fragment: give the gateway's address alone");
  }
  return url;
}
