import type { Transport } from "@connectrpc/connect";

/** Matches a value of the header x-game-id. The ids of games match it; the service rejects other ids. */
const ROUTABLE_ID = /^[\x21-\x7e]{1,64}$/;

/** A connection to a service: gRPC in Node, gRPC-Web anywhere. */
export interface Channel {
  /** The address, as the caller gave it. */
  readonly target: string;
  /** Whether it uses TLS. */
  readonly tls: boolean;
  /** Carries the calls. */
  readonly transport: Transport;
  /**
   * Return the headers of every call, in addition to the call's own.
   *
   * @param gameId - the game of the call, if any.
   */
  headers(gameId: string | undefined): Record<string, string>;
  /** Check whether the connection is alive; called when a response is overdue. */
  checkConnection(): void;
  /** Close all connections and cancel their calls. */
  close(): void;
}

/**
 * Return the header by which gateways route, so that all calls about a game reach the service that has it in its cache.
 *
 * @param gameId - the game of the call, if any.
 */
export function gameIdHeader(gameId: string | undefined): Record<string, string> {
  return gameId !== undefined && ROUTABLE_ID.test(gameId) ? { "x-game-id": gameId } : {};
}
