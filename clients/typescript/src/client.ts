/// <reference lib="esnext.disposable" preserve="true" />

import { create } from "@bufbuild/protobuf";

import type { Channel } from "./channel.js";
import type { Clock } from "./clock.js";
import { systemClock } from "./clock.js";
import { Commitment } from "./commitment.js";
import type { GameOptions } from "./game-messages.js";
import { toOptions } from "./game-messages.js";
import { GameSession } from "./game-session.js";
import { Game } from "./game.js";
import type { GameKindInfo } from "./gen/sodafountain/v1/game_pb.js";
import { GameStateSchema, Visibility } from "./gen/sodafountain/v1/game_pb.js";
import {
  GameService,
  ListGameKindsRequestSchema,
  NewGameRequestSchema,
} from "./gen/sodafountain/v1/game_service_pb.js";
import type { CallOptions } from "./rpc-client.js";
import { RpcClient } from "./rpc-client.js";
import { randomUuid } from "./uuid.js";
import { validateApiKey, validateCommitment } from "./validation.js";
import { Host, Seat, Spectator } from "./viewers.js";

const DEFAULT_TIMEOUT_MS = 5000;

/** Options of a client, for every transport. */
export interface ClientOptions {
  /** The API key for creating games, if the service requires one. */
  readonly apiKey?: string | undefined;
  /**
   * Whether to allow a connection without TLS to another host. Everyone on the network can then read the tokens and the API
   * key, so use it only on a network that you trust. Default: false; without TLS, the host must be localhost or a loopback
   * address.
   */
  readonly allowInsecure?: boolean | undefined;
  /** The default deadline of a call in milliseconds, retries included. Default: 5000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link Client.newGame}. */
export interface NewGameOptions extends CallOptions {
  /** The number of seats. */
  readonly seats: number;
  /** The seed of all random draws, 32 bytes. For tests; the service must allow it. */
  readonly seed?: Uint8Array | undefined;
  /** Whether the history hides secrets even after the end of the game. Default: false. */
  readonly sealed?: boolean | undefined;
  /** `Visibility.PRIVATE` if only holders of tokens may look at the game. Default: everyone who knows its id may. */
  readonly visibility?: Visibility | undefined;
  /** The UUID (version 4) of an earlier request to repeat. Default: a new one. */
  readonly requestId?: string | undefined;
}

/** Options of {@link Client.seat} and {@link Client.host}. */
export interface ViewerOptions {
  /** The commitment to the seed that was saved earlier: {@link Seat.commitment}. Default: that of the first state. */
  readonly commitment?: Uint8Array | undefined;
}

/** Options of {@link Client.spectator}. */
export interface SpectatorOptions extends ViewerOptions {
  /** The token of spectators. Only a private game requires it. */
  readonly token?: string | undefined;
}

/**
 * A client of a Soda Fountain service. Create one with `connect`.
 *
 * Every call has a deadline, and is retried while the service is unavailable. A failed call rejects with a
 * {@link SodaFountainError}; any call may fail with reason `UNREACHABLE` or `DEADLINE_EXCEEDED`, and `@throws` lists the
 * other likely reasons. An invalid argument rejects with a TypeError or RangeError, and nothing is sent.
 */
export class Client {
  readonly #rpc: RpcClient;
  readonly #apiKey: string | undefined;

  /**
   * Use `connect` instead.
   *
   * @param channel - the connection to the service.
   * @param options - API key and deadline.
   * @param clock - time and randomness.
   */
  constructor(channel: Channel, options: ClientOptions, clock: Clock = systemClock) {
    this.#rpc = new RpcClient(channel, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, clock);
    this.#apiKey = options.apiKey === undefined ? undefined : validateApiKey(options.apiKey);
  }

  /** The address of the service, as passed to `connect`. */
  get target(): string {
    return this.#rpc.target;
  }

  /** Whether the client is closed. */
  get closed(): boolean {
    return this.#rpc.closed;
  }

  /**
   * Create a game and deal it.
   *
   * @param options - the game and its options: `Options`, or the options message of a game, such as `SodaJerkOptions`.
   * @param settings - the number of seats, and other settings.
   * @throws {@link SodaFountainError} with reason `MALFORMED`: the options or the number of seats are invalid;
   * `API_KEY_INVALID`: the service requires an API key.
   * @throws TypeError: `options` is not an options message.
   */
  async newGame(options: GameOptions, settings: NewGameOptions): Promise<Game> {
    const { seats, seed, sealed = false, visibility = Visibility.UNSPECIFIED, timeoutMs, signal } = settings;
    const requestId = settings.requestId || randomUuid(); // an empty id is the same as no id
    const request = create(NewGameRequestSchema, {
      options: toOptions(options),
      seatCount: seats,
      seed,
      sealed,
      visibility,
      requestId,
    });
    const headers = this.#apiKey === undefined ? {} : { "x-api-key": this.#apiKey };
    const rpcOptions = { headers, requestId, timeoutMs, signal };
    const response = await this.#rpc.call(GameService.method.newGame, request, rpcOptions);
    return new Game(this.#rpc, response, response.state ?? create(GameStateSchema));
  }

  /**
   * Return the games that the service offers, with their numbers of seats, options and presets. Pass a preset (`presets[i]`)
   * to `newGame` unchanged; `presetInfos[i]` has its title and its numbers of seats.
   *
   * @param options - deadline of each page, and signal.
   */
  async gameKinds(options: CallOptions = {}): Promise<GameKindInfo[]> {
    const { timeoutMs, signal } = options;
    const kinds: GameKindInfo[] = [];
    let pageToken = "";
    do {
      const request = create(ListGameKindsRequestSchema, { pageToken });
      const page = await this.#rpc.call(GameService.method.listGameKinds, request, { timeoutMs, signal });
      kinds.push(...page.gameKinds);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return kinds;
  }

  /**
   * Return a seat of a game. Sends nothing.
   *
   * @param gameId - the id of the game.
   * @param token - the token of the seat.
   * @param options - the saved commitment.
   * @throws {@link SodaFountainError} with reason `TOKEN_INVALID`: the token is empty or has whitespace in it, such as a
   * line break at its end.
   * @throws TypeError or RangeError: the commitment is not 32 bytes.
   */
  seat(gameId: string, token: string, options: ViewerOptions = {}): Seat {
    return new Seat(this.#session(gameId, { secret: token }, options));
  }

  /**
   * Return a spectator of a game, who sees public information. Sends nothing.
   *
   * @param gameId - the id of the game.
   * @param options - the token, which a private game requires, and the saved commitment.
   * @throws as {@link Client.seat}.
   */
  spectator(gameId: string, options: SpectatorOptions = {}): Spectator {
    const token = options.token === undefined ? undefined : { secret: options.token };
    return new Spectator(this.#session(gameId, token, options));
  }

  /**
   * Return the host of a game. Sends nothing.
   *
   * @param gameId - the id of the game.
   * @param token - the token of the host.
   * @param options - the saved commitment.
   * @throws as {@link Client.seat}.
   */
  host(gameId: string, token: string, options: ViewerOptions = {}): Host {
    return new Host(this.#session(gameId, { secret: token }, options));
  }

  /**
   * Close the connection. Calls and watches in flight, and later ones, throw a {@link SodaFountainError} with reason
   * `CLIENT_CLOSED`.
   */
  close(): void {
    this.#rpc.close();
  }

  /** Close the client at the end of the block of a `using` declaration. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Return a description with the address of the service. */
  toString(): string {
    return `Client of ${this.target}`;
  }

  #session(gameId: string, token: { secret: string } | undefined, { commitment }: ViewerOptions): GameSession {
    const kept = commitment === undefined ? undefined : validateCommitment(commitment);
    return new GameSession(this.#rpc, gameId, token, new Commitment(gameId, kept));
  }
}
