import type { Transport } from "@connectrpc/connect";

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
