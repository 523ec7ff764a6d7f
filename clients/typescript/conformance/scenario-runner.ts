/** Runs the steps of one scenario. */

import type { Client, Game, Update, Watch } from "@sodafountain/client";
import { SodaFountainError } from "@sodafountain/client";
import type { GameState } from "@sodafountain/client/v1";
import { fromJson, GameStatus, MoveSchema, OptionsSchema, Visibility } from "@sodafountain/client/v1";

import type { Outcome, Step } from "./plan.js";
import { createPlayers, Player, required } from "./player.js";

/** An open watch, and its last update. */
interface OpenWatch {
  readonly watch: Watch;
  readonly player: Player;
  readonly legalMoves: boolean | undefined;
  last?: Update;
}

/** Runs the steps of one scenario with one client. */
export class ScenarioRunner {
  readonly #client: Client;
  #game: Game | undefined;
  #players = new Map<string, Player>();
  #state: GameState | undefined;
  #lastRequestId: string | undefined;
  readonly #watches = new Map<string, OpenWatch>();
  readonly #actions: Readonly<Record<string, (step: Step) => Promise<Outcome> | Outcome>> = {
    new_game: (step) => this.#newGame(step),
    game_kinds: (step) => this.#gameKinds(step),
    state: (step) => this.#getState(step),
    legal_moves: (step) => this.#legalMoves(step),
    apply: (step) => this.#apply(step),
    score: (step) => this.#score(step),
    history: (step) => this.#history(step),
    delete: (step) => this.#delete(step),
    play: () => this.#play(),
    watch: (step) => this.#watch(step),
    next: (step) => this.#next(step),
    close: (step) => this.#close(step),
    close_client: () => this.close(),
  };

  constructor(client: Client) {
    this.#client = client;
  }

  /** Run a step. Throws what the library throws. */
  async run(step: Step): Promise<Outcome> {
    try {
      return await required(this.#actions[step.do])(step);
    } catch (error) {
      if (error instanceof SodaFountainError && error.requestId !== undefined) {
        this.#lastRequestId = error.requestId;
      }
      throw error;
    }
  }

  /** Close the client. */
  close(): Outcome {
    this.#client.close();
    return {};
  }

  async #newGame(step: Step): Promise<Outcome> {
    const { sealed, visibility } = step;
    const game = await this.#client.newGame(fromJson(OptionsSchema, required(step.options)), {
      seats: required(step.seats),
      seed: step.seed === undefined ? undefined : Buffer.from(step.seed, "base64"),
      sealed,
      visibility: visibility === undefined ? undefined : toVisibility(visibility),
      requestId: this.#requestId(step),
      timeoutMs: toMs(step.timeout),
    });
    this.#game = game;
    this.#players = createPlayers(game);
    this.#state = game.state;
    return { ...summary(game.state), seats: game.seats.length };
  }

  async #gameKinds(step: Step): Promise<Outcome> {
    const kinds = await this.#client.gameKinds({ timeoutMs: toMs(step.timeout) });
    return { kinds: kinds.map(({ title }) => title) };
  }

  async #getState(step: Step): Promise<Outcome> {
    const options = { legalMoves: step.legal_moves, timeoutMs: toMs(step.timeout) };
    const state = await this.#player(step).state(step.seat, options);
    this.#state = state;
    return { ...summary(state), viewer: state.viewerSeat ?? null, moves: state.legalMoves.length };
  }

  async #legalMoves(step: Step): Promise<Outcome> {
    const { moves, prompt, ...response } = await this.#player(step).legalMoves(step.seat, toMs(step.timeout));
    return { ...summary(response), moves: moves.length, prompt };
  }

  async #apply(step: Step): Promise<Outcome> {
    const choice = typeof step.move === "number" ? step.move : fromJson(MoveSchema, required(step.move));
    const { committedVersion, repeatedRequest, events, state } = await this.#player(step).apply(step.seat, choice, {
      etag: step.etag,
      legalMoves: step.legal_moves,
      requestId: this.#requestId(step),
      timeoutMs: toMs(step.timeout),
    });
    this.#state = state;
    return { ...summary(state), committed: committedVersion, repeated: repeatedRequest, events: events.length };
  }

  async #score(step: Step): Promise<Outcome> {
    const { version, finished, note } = await this.#player(step).viewer.score({ timeoutMs: toMs(step.timeout) });
    return { version, finished, note };
  }

  async #history(step: Step): Promise<Outcome> {
    const { entries, seatCount, status } = await this.#player(step).history(step.seat, toMs(step.timeout));
    const moves = entries.filter(({ move }) => move !== undefined).length;
    return { entries: entries.length, moves, seats: seatCount, status: `GAME_STATUS_${GameStatus[status]}` };
  }

  async #delete(step: Step): Promise<Outcome> {
    await this.#player(step).delete(toMs(step.timeout));
    return {};
  }

  async #play(): Promise<Outcome> {
    let moves = 0;
    for (;;) {
      const { awaitingSeats, version } = required(this.#state);
      const seat = awaitingSeats[0];
      if (seat === undefined) {
        return { moves, version };
      }
      const player = required(this.#players.get(`seat ${seat}`));
      await player.legalMoves(undefined, undefined);
      ({ state: this.#state } = await player.apply(undefined, 0, {}));
      moves++;
    }
  }

  #watch(step: Step): Outcome {
    const player = this.#player(step);
    const watch = player.watch(step.seat, {
      legalMoves: step.legal_moves,
      idleTimeoutMs: step.idle_timeout === null ? Infinity : toMs(step.idle_timeout),
      resumeToken: step.resume === undefined ? undefined : required(this.#watches.get(step.resume)).last?.resumeToken,
    });
    this.#watches.set(required(step.name), { watch, player, legalMoves: step.legal_moves });
    return {};
  }

  async #next(step: Step): Promise<Outcome> {
    const openWatch = required(this.#watches.get(required(step.watch)));
    const updates: Outcome[] = [];
    while (updates.length < required(step.count)) {
      const { done, value } = await openWatch.watch.next();
      if (done === true) {
        return { updates, over: true };
      }
      const { state, events, isSnapshot } = (openWatch.last = value);
      openWatch.player.rememberMoves(state.legalMoves, openWatch.legalMoves);
      this.#state = state;
      const { version, legalMoves } = state;
      updates.push({ version, events: events.length, snapshot: isSnapshot, moves: legalMoves.length });
    }
    return { updates, over: false };
  }

  #close(step: Step): Outcome {
    required(this.#watches.get(required(step.watch))).watch.close();
    return {};
  }

  /** Return the object that makes the call: the same one for the same `as`, unless the step creates another. */
  #player({ as = "spectator", token, game, without_token, restored }: Step): Player {
    const gameId = game ?? this.#game?.id ?? "";
    if (token !== undefined || without_token === true) {
      return new Player(this.#createViewer(as, gameId, token));
    }
    if (game !== undefined) {
      return new Player(this.#createViewer(as, game, this.#token(as)));
    }
    let player = this.#players.get(as);
    if (player === undefined) {
      player = new Player(this.#createViewer(as, gameId, this.#token(as)));
      this.#players.set(as, player);
    }
    return restored === true
      ? new Player(this.#createViewer(as, gameId, this.#token(as), player.viewer.commitment))
      : player;
  }

  #createViewer(as: string, gameId: string, token: string | undefined, commitment?: Uint8Array): Player["viewer"] {
    if (as === "spectator") {
      return this.#client.spectator(gameId, { token, commitment });
    }
    return as === "host"
      ? this.#client.host(gameId, required(token), { commitment })
      : this.#client.seat(gameId, required(token), { commitment });
  }

  /** Return the token of a caller. A spectator of a public game has none. */
  #token(as: string): string | undefined {
    if (as === "spectator") {
      return this.#game?.state.visibility === Visibility.PRIVATE ? this.#game.spectatorToken : undefined;
    }
    const game = required(this.#game);
    return as === "host" ? game.hostToken : game.seatTokens[Number(as.replace("seat ", ""))];
  }

  #requestId({ request_id }: Step): string | undefined {
    return request_id === "again" ? required(this.#lastRequestId) : request_id;
  }
}

function summary({ version, awaitingSeats }: Pick<GameState, "version" | "awaitingSeats">): Outcome {
  return { version, awaiting: awaitingSeats };
}

function toVisibility(name: Required<Step>["visibility"]): Visibility {
  return Visibility[name.replace("VISIBILITY_", "") as keyof typeof Visibility];
}

/** Convert seconds to milliseconds. */
function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
