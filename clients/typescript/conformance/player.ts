/** A role in a game, with the same methods for host, seat and spectator. It remembers the legal moves received last. */

import type { ApplyOptions, ApplyResult, Game, Host, Seat, Spectator, StateOptions, Watch } from "@sodafountain/client";
import type { WatchOptions } from "@sodafountain/client";
import type { GameState, GetHistoryResponse, LegalMove, LegalMovesResponse } from "@sodafountain/client/v1";

/** A move: its index in the legal moves received last, or the move itself. */
export type MoveChoice = number | Parameters<Seat["apply"]>[0];

/** A host, a seat or a spectator. */
export class Player {
  #legalMoves: readonly LegalMove[] = [];

  constructor(readonly viewer: Host | Seat | Spectator) {}

  async state(seat: number | undefined, options: StateOptions): Promise<GameState> {
    const state = await ("delete" in this.viewer
      ? this.viewer.state({ seat, ...options })
      : this.viewer.state(options));
    this.rememberMoves(state.legalMoves, options.legalMoves);
    return state;
  }

  async legalMoves(seat: number | undefined, timeoutMs: number | undefined): Promise<LegalMovesResponse> {
    const response = await ("delete" in this.viewer
      ? this.viewer.legalMoves(required(seat), { timeoutMs })
      : this.#seat().legalMoves({ timeoutMs }));
    this.rememberMoves(response.moves, true);
    return response;
  }

  async apply(seat: number | undefined, choice: MoveChoice, options: ApplyOptions): Promise<ApplyResult> {
    const move = typeof choice === "number" ? required(this.#legalMoves[choice]) : choice;
    const result = await ("delete" in this.viewer
      ? this.viewer.apply(required(seat), move, options)
      : this.#seat().apply(move, options));
    this.rememberMoves(result.state.legalMoves, options.legalMoves);
    return result;
  }

  history(seat: number | undefined, timeoutMs: number | undefined): Promise<GetHistoryResponse> {
    return "delete" in this.viewer ? this.viewer.history({ seat, timeoutMs }) : this.viewer.history({ timeoutMs });
  }

  watch(seat: number | undefined, options: WatchOptions): Watch {
    return "delete" in this.viewer ? this.viewer.watch({ seat, ...options }) : this.viewer.watch(options);
  }

  async delete(timeoutMs: number | undefined): Promise<void> {
    if (!("delete" in this.viewer)) {
      throw new TypeError("only a host can delete a game");
    }
    await this.viewer.delete({ timeoutMs });
  }

  /** Remember the legal moves of a response, if the request included them. */
  rememberMoves(moves: readonly LegalMove[], included: boolean | undefined): void {
    if (included === true) {
      this.#legalMoves = moves;
    }
  }

  #seat(): Seat {
    if (!("number" in this.viewer)) {
      throw new TypeError("a spectator has no moves");
    }
    return this.viewer;
  }
}

/** Return the host and the seats of a game, by their names in a plan. */
export function createPlayers(game: Game): Map<string, Player> {
  const seats = game.seats.map((seat, number): [string, Player] => [`seat ${number}`, new Player(seat)]);
  return new Map([["host", new Player(game.host)], ...seats]);
}

/** Return a value that a step needs; throw if it is missing. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new TypeError("the step lacks a required value");
  }
  return value;
}
