import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { constants } from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** What connect-node uses to open and keep connections. */
type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/** Timeouts of a connection, in milliseconds. */
export interface ConnectionTimeouts {
  /** A connection that was idle for longer is pinged before the next call, and during streams. */
  readonly pingIntervalMs: number;
  /** A connection that does not answer a ping within this time is closed, and its calls are retried over another. */
  readonly pingTimeoutMs: number;
  /** A connection that is not established within this time is given up; the next call opens another. */
  readonly connectTimeoutMs: number;
}

const DEFAULT_TIMEOUTS: ConnectionTimeouts = { pingIntervalMs: 30_000, pingTimeoutMs: 2000, connectTimeoutMs: 5000 };

/** An HTTP/2 connection that is opened when it is needed, and reopened after a failure. */
export class Connection implements SessionManager {
  readonly #manager: Http2SessionManager;
  readonly #timeouts: ConnectionTimeouts;
  #session: Http2Session | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #connectingSince: number | undefined;

  /**
   * @param url - the URL of the server.
   * @param options - the options of `http2.connect`.
   * @param timeouts - the timeouts.
   */
  constructor(url: string, options: ConstructorParameters<typeof Http2SessionManager>[2], timeouts = DEFAULT_TIMEOUTS) {
    const pings = { pingIntervalMs: timeouts.pingIntervalMs, pingTimeoutMs: timeouts.pingTimeoutMs };
    this.#timeouts = timeouts;
    this.#manager = new Http2SessionManager(url, pings, options);
  }

  /** The origin of the server. */
  get authority(): string {
    return this.#manager.authority;
  }

  /** Open a stream. */
  async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    if (["closed", "error"].includes(this.#manager.state())) {
      this.#connectingSince = performance.now();
    }
    const stream = await this.#manager.request(...request);
    if (stream.session !== this.#session) {
      this.#session = stream.session;
      // The manager handles errors of its current connection only. An unhandled error event would end the process.
      this.#session?.on("error", () => undefined);
    }
    return stream;
  }

  /** Note that data arrived on a stream. */
  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.#manager.notifyResponseByteRead(stream);
  }

  /** Check whether the connection is alive. If it is not, close it; the next call opens another. */
  check(): void {
    if (this.#manager.state() === "connecting") {
      if (performance.now() - (this.#connectingSince ?? 0) >= this.#timeouts.connectTimeoutMs) {
        this.#manager.abort(new ConnectError("the connection timed out", Code.Unavailable));
      }
      return;
    }
    const session = this.#session;
    if (session === undefined || session.closed || session.destroyed || this.#pingTimer !== undefined) {
      return;
    }
    this.#pingTimer = setTimeout(() => {
      session.destroy(new ConnectError("the connection timed out", Code.Unavailable), constants.NGHTTP2_CANCEL);
    }, this.#timeouts.pingTimeoutMs).unref();
    session.ping(() => {
      clearTimeout(this.#pingTimer);
      this.#pingTimer = undefined;
    });
  }

  /** Close the connection and all its streams. */
  close(): void {
    clearTimeout(this.#pingTimer);
    // Send GOAWAY with NO_ERROR first; `abort` alone would send an error.
    this.#session?.destroy(undefined, constants.NGHTTP2_NO_ERROR);
    this.#manager.abort();
  }
}
