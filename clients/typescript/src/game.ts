import { GameSession } from "./game-session.js";
import type { GameState } from "./gen/sodafountain/v1/game_pb.js";
import type { NewGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { hideGetters } from "./inspect.js";
import type { RpcClient } from "./rpc-client.js";
import { Host, Seat } from "./viewers.js";

/** A game that this client created. Its tokens are secrets; printing the game does not show them. */
export class Game {
  /** The id of the game. Not a secret. */
  readonly id: string;
  /** The host. */
  readonly host: Host;
  /** The seats, by number. */
  readonly seats: readonly Seat[];
  /** The SHA-256 of the seed, 32 bytes. Compare it with the seed in the history. */
  readonly seedCommitment: Uint8Array;
  readonly #state: GameState;
  readonly #hostToken: string;
  readonly #seatTokens: readonly string[];

  /**
   * Use `newGame` instead.
   *
   * @param rpc - makes the calls.
   * @param response - the response of the service.
   * @param state - the state in it.
   */
  constructor(rpc: RpcClient, response: NewGameResponse, state: GameState) {
    const { hostToken, seatTokens, seedCommitment } = response;
    this.id = state.gameId;
    this.host = new Host(new GameSession(rpc, this.id, { secret: hostToken }));
    this.seats = seatTokens.map((secret, number) => new Seat(new GameSession(rpc, this.id, { secret }, number)));
    this.seedCommitment = seedCommitment;
    this.#state = state;
    this.#hostToken = hostToken;
    this.#seatTokens = seatTokens;
  }

  /** The state of the new game, as a spectator sees it. */
  get state(): GameState {
    return this.#state;
  }

  /** The token of the host, who can act for every seat. A secret. */
  get hostToken(): string {
    return this.#hostToken;
  }

  /** The tokens of the seats, by number. Secrets. */
  get seatTokens(): readonly string[] {
    return this.#seatTokens;
  }

  /** Return a description without tokens. */
  toString(): string {
    return `Game ${this.id}`;
  }
}

hideGetters(Game.prototype);
