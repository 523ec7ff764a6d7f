import type { Transport } from "@connectrpc/connect";

/** A way to a service: over gRPC from Node, over gRPC-Web from anywhere. */
export interface Channel {
  /** The address, as the caller gave it. */
  readonly target: string;
  /** Whether it is called over TLS. */
  readonly tls: boolean;
  /** What carries the calls. */
  readonly transport: Transport;
  /**
   * What goes with every call, apart from its own metadata.
   *
   * @param gameId - the game that the call is about, if it is about one.
   */
  headers(gameId: string | undefined): Record<string, string>;
  /** Takes note that a call was not answered in time: the connection may be dead. */
  checkConnection(): void;
  /** Closes all connections, and what is under way over them. */
  close(): void;
}
