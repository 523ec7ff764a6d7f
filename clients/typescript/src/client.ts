/// <reference lib="esnext.disposable" preserve="true" />

import { create } from "@bufbuild/protobuf";

import { validateApiKey } from "./validation.js";
import type { CallOptions } from "./rpc-client.js";
import { RpcClient } from "./rpc-client.js";
import type { Channel } from "./channel.js";
import type { Clock } from "./clock.js";
import { systemClock } from "./clock.js";
import type { GameOptions } from "./game-messages.js";
import { toOptions } from "./game-messages.js";
import { GameSession } from "./game-session.js";
import { Game } from "./game.js";
import type { GameKindInfo } from "./gen/sodafountain/v1/game_pb.js";
import { GameStateSchema } from "./gen/sodafountain/v1/game_pb.js";
import {
  GameService,
  ListGameKindsRequestSchema,
  NewGameRequestSchema,
} from "./gen/sodafountain/v1/game_service_pb.js";
import { Host, Seat, Spectator } from "./viewers.js";
import { randomUuid } from "./uuid.js";

const DEFAULT_TIMEOUT_MS = 5000;

/** How to connect, whatever carries the calls. */
export interface ClientOptions {
  /** The key that making games needs where the operator closed it. */
  readonly apiKey?: string | undefined;
  /** The deadline of a call that names none, in milliseconds, its retries included; 5000 if left out. */
  readonly timeoutMs?: number | undefined;
}

/** How a game is to be made. */
export interface NewGameOptions extends CallOptions {
  /** How many seats. */
  readonly seats: number;
  /** The seed of every random draw, 32 bytes; only where the operator allows it, for tests. */
  readonly seed?: Uint8Array | undefined;
  /** Whether the history keeps its secrets after the end too; not if left out. */
  readonly sealed?: boolean | undefined;
  /** A UUID (version 4) under which the same was asked for before; a new one if left out. */
  readonly requestId?: string | undefined;
}

/**
 * A connection to a Soda Fountain service, made by `connect`.
 *
 * Every call has a deadline, and is sent again while the service is away for a moment. Any call may reject with a
 * {@link SodaFountainError}, with reason `UNREACHABLE` or `DEADLINE_EXCEEDED` for instance; `@throws` names the likely ones.
 * A call that is wrong in itself rejects with a TypeError or a RangeError, and nothing is sent.
 */
export class Client {
  readonly #caller: RpcClient;
  readonly #apiKey: string | undefined;

  /**
   * Made by `connect`.
   *
   * @param channel - the way to the service.
   * @param options - how to connect.
   * @param clock - tells the time.
   */
  constructor(channel: Channel, options: ClientOptions, clock: Clock = systemClock) {
    this.#caller = new RpcClient(channel, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, clock);
    this.#apiKey = options.apiKey === undefined ? undefined : validateApiKey(options.apiKey);
  }

  /** The address of the service, as it was given. */
  get target(): string {
    return this.#caller.target;
  }

  /** Whether it is closed. */
  get closed(): boolean {
    return this.#caller.closed;
  }

  /**
   * Makes a game and deals it.
   *
   * @param options - which game and how: `Options`, or a kind's own options message.
   * @param how - how many seats, and the rest.
   * @throws {@link SodaFountainError} with reason `MALFORMED`: the options or the number of seats make no game;
   * `API_KEY_INVALID`: making games needs an API key here.
   * @throws TypeError: it is no options message.
   */
  async newGame(options: GameOptions, how: NewGameOptions): Promise<Game> {
    const { seats, seed, sealed = false, timeoutMs, signal } = how;
    const requestId = how.requestId || randomUuid(); // an empty one is none
    const request = create(NewGameRequestSchema, {
      options: toOptions(options),
      seatCount: seats,
      seed,
      sealed,
      requestId,
    });
    const headers = this.#apiKey === undefined ? {} : { "x-api-key": this.#apiKey };
    const rpcOptions = { headers, requestId, timeoutMs, signal };
    const answer = await this.#caller.call(GameService.method.newGame, request, rpcOptions);
    return new Game(this.#caller, answer, answer.state ?? create(GameStateSchema));
  }

  /**
   * Lists the kinds of game on offer, with their numbers of seats, options and presets. A preset (`presets[i]`) goes to
   * `newGame` as it is; `presetInfos[i]` has its title and the seats it is for.
   *
   * @param options - deadline of each page, and signal.
   */
  async gameKinds(options: CallOptions = {}): Promise<GameKindInfo[]> {
    const { timeoutMs, signal } = options;
    const kinds: GameKindInfo[] = [];
    let pageToken = "";
    do {
      const request = create(ListGameKindsRequestSchema, { pageToken });
      const page = await this.#caller.call(GameService.method.listGameKinds, request, { timeoutMs, signal });
      kinds.push(...page.gameKinds);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return kinds;
  }

  /**
   * Takes a seat of a game with its token; nothing is asked of the service yet.
   *
   * @param gameId - the game's id.
   * @param token - the seat's token.
   * @throws {@link SodaFountainError} with reason `TOKEN_INVALID`: no token looks like that; it is empty, or has white space
   * in it, at its ends for instance.
   */
  seat(gameId: string, token: string): Seat {
    return new Seat(new GameSession(this.#caller, gameId, { secret: token }));
  }

  /**
   * Looks at a game from outside; nothing is asked of the service yet.
   *
   * @param gameId - the game's id.
   */
  spectator(gameId: string): Spectator {
    return new Spectator(new GameSession(this.#caller, gameId));
  }

  /**
   * Holds a game with its host token; nothing is asked of the service yet.
   *
   * @param gameId - the game's id.
   * @param token - the host's token.
   * @throws {@link SodaFountainError} with reason `TOKEN_INVALID`: no token looks like that.
   */
  host(gameId: string, token: string): Host {
    return new Host(new GameSession(this.#caller, gameId, { secret: token }));
  }

  /**
   * Closes the connection. Calls and watches that are under way, and later ones, throw a {@link SodaFountainError} with
   * reason `CLIENT_CLOSED`.
   */
  close(): void {
    this.#caller.close();
  }

  /** Closes the client at the end of the block of a `using` declaration. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Names the service. */
  toString(): string {
    return `Client of ${this.target}`;
  }
}
