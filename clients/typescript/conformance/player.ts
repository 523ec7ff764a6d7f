/** Somebody's hold on a game, the same to ask whoever it is; remembers the legal moves that it listed last. */

import type { ApplyOptions, Game, Host, ApplyResult, Seat, Spectator, StateOptions, Watch } from "@sodafountain/client";
import type { WatchOptions } from "@sodafountain/client";
import type { GameState, LegalMove, LegalMovesResponse } from "@sodafountain/client/v1";

/** A move that was asked for, by its place among those that were listed last, or by itself. */
export type Choice = number | Parameters<Seat["apply"]>[0];

/** Somebody who plays or looks on. */
export class Player {
  #listed: readonly LegalMove[] = [];

  constructor(readonly viewer: Host | Seat | Spectator) {}

  async state(seat: number | undefined, options: StateOptions): Promise<GameState> {
    const state = await ("delete" in this.viewer
      ? this.viewer.state({ seat, ...options })
      : this.viewer.state(options));
    this.note(state.legalMoves, options.legalMoves);
    return state;
  }

  async legalMoves(seat: number | undefined, timeoutMs: number | undefined): Promise<LegalMovesResponse> {
    const answer = await ("delete" in this.viewer
      ? this.viewer.legalMoves(required(seat), { timeoutMs })
      : this.seat().legalMoves({ timeoutMs }));
    this.note(answer.moves, true);
    return answer;
  }

  async apply(seat: number | undefined, choice: Choice, options: ApplyOptions): Promise<ApplyResult> {
    const move = typeof choice === "number" ? required(this.#listed[choice]) : choice;
    const made = await ("delete" in this.viewer
      ? this.viewer.apply(required(seat), move, options)
      : this.seat().apply(move, options));
    this.note(made.state.legalMoves, options.legalMoves);
    return made;
  }

  watch(seat: number | undefined, options: WatchOptions): Watch {
    return "delete" in this.viewer ? this.viewer.watch({ seat, ...options }) : this.viewer.watch(options);
  }

  async delete(timeoutMs: number | undefined): Promise<void> {
    await host(this.viewer).delete({ timeoutMs });
  }

  /** Remembers legal moves, where they were asked for. */
  note(moves: readonly LegalMove[], asked: boolean | undefined): void {
    if (asked === true) {
      this.#listed = moves;
    }
  }

  private seat(): Seat {
    if (!("number" in this.viewer)) {
      throw new TypeError("a spectator has no moves");
    }
    return this.viewer;
  }
}

/** The players of a game: one for each object, the same as long as the game is the last that was made. */
export function createPlayers(game: Game): Map<string, Player> {
  const seats = game.seats.map((seat, number): [string, Player] => [`seat ${number}`, new Player(seat)]);
  return new Map([["host", new Player(game.host)], ...seats]);
}

/** What must have been given. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new TypeError("the step lacks something");
  }
  return value;
}

function host(viewer: Host | Seat | Spectator): Host {
  if (!("delete" in viewer)) {
    throw new TypeError("only the host deletes");
  }
  return viewer;
}
