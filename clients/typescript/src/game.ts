import { Commitment } from "./commitment.js";
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
  readonly #state: GameState;
  readonly #hostToken: string;
  readonly #seatTokens: readonly string[];
  readonly #spectatorToken: string;

  /**
   * Use `newGame` instead.
   *
   * @param rpc - makes the calls.
   * @param response - the response of the service.
   * @param state - the state in it.
   */
  constructor(rpc: RpcClient, response: NewGameResponse, state: GameState) {
    const { hostToken, seatTokens, spectatorToken } = response;
    this.id = state.gameId;
    const commitment = new Commitment(this.id);
    commitment.checkState(state);
    const createSession = (secret: string, seat?: number): GameSession =>
      new GameSession(rpc, this.id, { secret }, commitment, seat);
    this.host = new Host(createSession(hostToken));
    this.seats = seatTokens.map((secret, number) => new Seat(createSession(secret, number)));
    this.#state = state;
    this.#hostToken = hostToken;
    this.#seatTokens = seatTokens;
    this.#spectatorToken = spectatorToken;
  }

  /** The state of the new game, as a spectator sees it. */
  get state(): GameState {
    return this.#state;
  }

  /** The commitment to the seed, 32 bytes; see {@link Seat.commitment}. Not a secret. */
  get commitment(): Uint8Array {
    return Uint8Array.from(this.#state.seedCommitment);
  }

  /** The token of the host, who can act for every seat. A secret. */
  get hostToken(): string {
    return this.#hostToken;
  }

  /** The tokens of the seats, by number. Secrets. */
  get seatTokens(): readonly string[] {
    return this.#seatTokens;
  }

  /** The token of spectators, who see public information. A secret of a private game; not needed for a public one. */
  get spectatorToken(): string {
    return this.#spectatorToken;
  }

  /** Return a description without tokens. */
  toString(): string {
    return `Game ${this.id}`;
  }
}

hideGetters(Game.prototype);
