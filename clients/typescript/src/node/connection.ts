import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { constants } from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** What keeps the connection of a transport. */
type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/** How long connections may be quiet, in milliseconds. */
export interface ConnectionTimeouts {
  /** One that was quiet for longer is asked for a sign of life (a ping) before a call goes over it, and under streams. */
  readonly pingIntervalMs: number;
  /** One that gives no sign of life for longer is dead: enough is left of a deadline to use another. */
  readonly pingTimeoutMs: number;
  /** One that is not made for longer will not be: the next call tries another. */
  readonly connectTimeoutMs: number;
}

const DEFAULT_TIMEOUTS: ConnectionTimeouts = { pingIntervalMs: 30_000, pingTimeoutMs: 2000, connectTimeoutMs: 5000 };

/** A connection over HTTP/2 that is made when it is needed, and again when it broke. */
export class Connection implements SessionManager {
  readonly #manager: Http2SessionManager;
  readonly #timeouts: ConnectionTimeouts;
  #session: Http2Session | undefined;
  #asked: NodeJS.Timeout | undefined;
  #connectingSince: number | undefined;

  /**
   * @param url - to where.
   * @param options - how, in the words of `http2.connect`.
   * @param patience - how long it may be quiet.
   */
  constructor(url: string, options: ConstructorParameters<typeof Http2SessionManager>[2], timeouts = DEFAULT_TIMEOUTS) {
    const pings = { pingIntervalMs: timeouts.pingIntervalMs, pingTimeoutMs: timeouts.pingTimeoutMs };
    this.#timeouts = timeouts;
    this.#manager = new Http2SessionManager(url, pings, options);
  }

  /** Where it leads. */
  get authority(): string {
    return this.#manager.authority;
  }

  /** Opens a stream. */
  async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    if (["closed", "error"].includes(this.#manager.state())) {
      this.#connectingSince = performance.now();
    }
    const stream = await this.#manager.request(...request);
    if (stream.session !== this.#session) {
      this.#session = stream.session;
      // Its manager hears of errors only while the connection is its current one; an error that nobody hears ends Node.
      this.#session?.on("error", () => undefined);
    }
    return stream;
  }

  /** Hears that something arrived. */
  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.#manager.notifyResponseByteRead(stream);
  }

  /** Finds out whether it is alive still. If it is not, it is closed, and the next call makes another. */
  checkConnection(): void {
    if (this.#manager.state() === "connecting") {
      if (performance.now() - (this.#connectingSince ?? 0) >= this.#timeouts.connectTimeoutMs) {
        this.#manager.abort(new ConnectError("the connection timed out", Code.Unavailable));
      }
      return;
    }
    const session = this.#session;
    if (session === undefined || session.closed || session.destroyed || this.#asked !== undefined) {
      return;
    }
    this.#asked = setTimeout(() => {
      session.destroy(new ConnectError("the connection timed out", Code.Unavailable), constants.NGHTTP2_CANCEL);
    }, this.#timeouts.pingTimeoutMs).unref();
    session.ping(() => {
      clearTimeout(this.#asked);
      this.#asked = undefined;
    });
  }

  /** Closes it, and every stream on it. */
  close(): void {
    clearTimeout(this.#asked);
    this.#session?.destroy(undefined, constants.NGHTTP2_NO_ERROR); // a farewell; what follows would be a complaint
    this.#manager.abort();
  }
}
