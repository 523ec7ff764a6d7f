import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { constants } from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { Http2SessionManager } from "@connectrpc/connect-node";

/** What keeps the connection of a transport. */
type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/** A connection that was quiet for longer is asked for a sign of life (a ping) before a call goes over it. */
const QUIET_MS = 60_000;

/** A connection that gives no sign of life in so many milliseconds is dead: enough is left of a deadline to use another. */
const SIGN_OF_LIFE_MS = 2000;

/** A connection over HTTP/2 that is made when it is needed, and again when it broke. */
export class Connection implements SessionManager {
  readonly #manager: Http2SessionManager;
  #session: Http2Session | undefined;
  #asked: NodeJS.Timeout | undefined;

  /**
   * @param url - to where.
   * @param options - how, in the words of `http2.connect`.
   */
  constructor(url: string, options: ConstructorParameters<typeof Http2SessionManager>[2]) {
    const pings = { pingIntervalMs: QUIET_MS, pingTimeoutMs: SIGN_OF_LIFE_MS };
    this.#manager = new Http2SessionManager(url, pings, options);
  }

  /** Where it leads. */
  get authority(): string {
    return this.#manager.authority;
  }

  /** Opens a stream. */
  async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await this.#manager.request(...request);
    this.#session = stream.session;
    return stream;
  }

  /** Hears that something arrived. */
  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.#manager.notifyResponseByteRead(stream);
  }

  /** Finds out whether it is alive still. If it is not, it is closed, and the next call makes another. */
  doubt(): void {
    if (this.#manager.state() === "connecting") {
      this.#manager.abort(new ConnectError("the connection timed out", Code.Unavailable));
      return;
    }
    const session = this.#session;
    if (session === undefined || session.closed || session.destroyed || this.#asked !== undefined) {
      return;
    }
    this.#asked = setTimeout(() => {
      session.destroy(new ConnectError("the connection timed out", Code.Unavailable), constants.NGHTTP2_CANCEL);
    }, SIGN_OF_LIFE_MS).unref();
    session.ping(() => {
      clearTimeout(this.#asked);
      this.#asked = undefined;
    });
  }

  /** Closes it, and every stream on it. */
  close(): void {
    clearTimeout(this.#asked);
    this.#manager.abort();
  }
}
