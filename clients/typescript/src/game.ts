import type { RpcClient } from "./rpc-client.js";
import { GameSession } from "./game-session.js";
import type { GameState } from "./gen/sodafountain/v1/game_pb.js";
import type { NewGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { hideGetters } from "./inspect.js";
import { Host, Seat } from "./viewers.js";

/** A game that this client made. Its tokens are secrets, each for its player; nothing that prints the game shows them. */
export class Game {
  /** The game's id: public. */
  readonly id: string;
  /** The host's hold on the game. */
  readonly host: Host;
  /** The seats, by number. */
  readonly seats: readonly Seat[];
  /** The SHA-256 of the seed, 32 bytes, to be compared with the seed that the history reveals. */
  readonly seedCommitment: Uint8Array;
  readonly #state: GameState;
  readonly #hostToken: string;
  readonly #seatTokens: readonly string[];

  /**
   * Made by `newGame`.
   *
   * @param caller - makes the client's calls.
   * @param answer - the service's answer.
   * @param state - the state in it.
   */
  constructor(caller: RpcClient, answer: NewGameResponse, state: GameState) {
    const { hostToken, seatTokens, seedCommitment } = answer;
    this.id = state.gameId;
    this.host = new Host(new GameSession(caller, this.id, { secret: hostToken }));
    this.seats = seatTokens.map((secret, number) => new Seat(new GameSession(caller, this.id, { secret }, number)));
    this.seedCommitment = seedCommitment;
    this.#state = state;
    this.#hostToken = hostToken;
    this.#seatTokens = seatTokens;
  }

  /** The game as a spectator saw it when it was made. */
  get state(): GameState {
    return this.#state;
  }

  /** The host's token: acts and looks for every seat. A secret. */
  get hostToken(): string {
    return this.#hostToken;
  }

  /** One token per seat, by seat. Secrets. */
  get seatTokens(): readonly string[] {
    return this.#seatTokens;
  }

  /** Names the game; never shows a token. */
  toString(): string {
    return `Game ${this.id}`;
  }
}

hideGetters(Game.prototype);
