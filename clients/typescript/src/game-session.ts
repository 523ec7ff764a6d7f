/** Makes one caller's calls about one game, and remembers the open decisions that the caller has seen. */

import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";

import { validateToken } from "./validation.js";
import type { RpcOptions, CallOptions, RpcClient } from "./rpc-client.js";
import type { GameMove } from "./game-messages.js";
import { toMove } from "./game-messages.js";
import type { GameState } from "./gen/sodafountain/v1/game_pb.js";
import { GameStateSchema } from "./gen/sodafountain/v1/game_pb.js";
import type {
  ApplyMoveResponse,
  GetHistoryResponse,
  LegalMovesResponse,
  ScoreResponse,
} from "./gen/sodafountain/v1/game_service_pb.js";
import {
  ApplyMoveRequestSchema,
  DeleteGameRequestSchema,
  GameService,
  GetGameRequestSchema,
  GetHistoryRequestSchema,
  GetHistoryResponseSchema,
  LegalMovesRequestSchema,
  ScoreRequestSchema,
} from "./gen/sodafountain/v1/game_service_pb.js";
import { randomUuid } from "./uuid.js";

/** What looking at a game takes. */
export interface StateOptions extends CallOptions {
  /** Whether to list the seat's legal moves in the state; not if left out. */
  readonly legalMoves?: boolean | undefined;
}

/** What making a move takes. */
export interface ApplyOptions extends CallOptions {
  /**
   * The tag of the decision that the move answers; if left out, the one that was seen open last; if empty, the one that is
   * open when the move arrives.
   */
  readonly etag?: string | undefined;
  /** Whether to list the seat's next legal moves in the answer's state; not if left out. */
  readonly legalMoves?: boolean | undefined;
  /** A UUID (version 4) under which the same was asked for before; a new one if left out. */
  readonly requestId?: string | undefined;
}

/** A move that was made: the contract's answer, whose state is always there. */
export type ApplyResult = ApplyMoveResponse & {
  /** The game now, as the seat may see it. */
  state: GameState;
};

/** A decision as it was seen. */
interface Decision {
  /** Its tag; empty where nothing was awaited from the seat. */
  readonly etag: string;
  /** The version of the game in which it was seen. */
  readonly version: bigint;
}

/**
 * Makes one caller's calls about one game. The `seat` of each is undefined where the token says it, or where a spectator
 * asks.
 */
export class GameSession {
  /** The game's id. */
  readonly gameId: string;
  /** The caller's own seat as far as it is known: the token alone does not say it. */
  ownSeat: number | undefined;
  /** Makes the client's calls. */
  readonly caller: RpcClient;
  readonly #headers: Readonly<Record<string, string>>;
  /** By seat, as in the calls: the decision that was open when its seat was last looked at. */
  readonly #decisions = new Map<number | undefined, Decision>();

  /**
   * @param caller - makes the client's calls.
   * @param gameId - the game's id.
   * @param token - the caller's token; undefined for a spectator.
   * @param ownSeat - the caller's seat, where it is known.
   * @throws SodaFountainError with reason `TOKEN_INVALID` where no token looks like that.
   */
  constructor(caller: RpcClient, gameId: string, token?: { readonly secret: string }, ownSeat?: number) {
    this.caller = caller;
    this.gameId = gameId;
    this.ownSeat = ownSeat;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${validateToken(token.secret)}` };
  }

  /** Shows the game. */
  async state(seat: number | undefined, options: StateOptions): Promise<GameState> {
    const includeLegalMoves = options.legalMoves ?? false;
    const request = create(GetGameRequestSchema, { gameId: this.gameId, seat, includeLegalMoves });
    const { state = create(GameStateSchema) } = await this.#call(GameService.method.getGame, request, options);
    this.noteState(seat, state);
    return state;
  }

  /** Lists the legal moves of a seat. */
  async legalMoves(seat: number | undefined, options: CallOptions): Promise<LegalMovesResponse> {
    const request = create(LegalMovesRequestSchema, { gameId: this.gameId, seat });
    const answer = await this.#call(GameService.method.legalMoves, request, options);
    this.#note(seat, answer, answer.moves.length > 0);
    return answer;
  }

  /** Makes a move. */
  async apply(seat: number | undefined, move: GameMove, options: ApplyOptions): Promise<ApplyResult> {
    const requestId = options.requestId || randomUuid(); // an empty one is none
    const request = create(ApplyMoveRequestSchema, {
      gameId: this.gameId,
      seat,
      move: toMove(move),
      etag: options.etag ?? this.#decisions.get(seat)?.etag ?? "",
      requestId,
      includeLegalMoves: options.legalMoves ?? false,
    });
    const answer = await this.#call(GameService.method.applyMove, request, { ...options, requestId });
    const { state = create(GameStateSchema) } = answer;
    this.noteState(seat, state);
    return Object.assign(answer, { state });
  }

  /** Tells the standings. */
  score(options: CallOptions): Promise<ScoreResponse> {
    return this.#call(GameService.method.score, create(ScoreRequestSchema, { gameId: this.gameId }), options);
  }

  /** Reveals a finished game, all pages put together. */
  async history(options: CallOptions): Promise<GetHistoryResponse> {
    let history = create(GetHistoryResponseSchema);
    do {
      const request = create(GetHistoryRequestSchema, { gameId: this.gameId, pageToken: history.nextPageToken });
      const page = await this.#call(GameService.method.getHistory, request, options);
      page.entries.unshift(...history.entries);
      history = page;
    } while (history.nextPageToken !== "");
    return history;
  }

  /** Deletes the game. */
  async delete(options: CallOptions): Promise<void> {
    const request = create(DeleteGameRequestSchema, { gameId: this.gameId });
    await this.#call(GameService.method.deleteGame, request, options);
  }

  /** What goes with every call about the game in the caller's name. */
  get rpcOptions(): RpcOptions {
    return { headers: this.#headers, gameId: this.gameId };
  }

  /**
   * Remembers which decision is open in a state that was told. What is asked for is the newest there is, and so is a
   * snapshot, also where the service's store has lost what was newer. An update may have been on its way while an answer came.
   */
  noteState(seat: number | undefined, state: GameState, isUpdate = false): void {
    const { viewerSeat } = state;
    if (viewerSeat === undefined) {
      return;
    }
    if (seat === undefined) {
      this.ownSeat = viewerSeat;
    }
    const seen = this.#decisions.get(seat);
    if (!isUpdate || seen === undefined || state.version >= seen.version) {
      this.#note(seat, state, state.awaitingSeats.includes(viewerSeat));
    }
  }

  #note(seat: number | undefined, { etag, version }: Decision, isOpen: boolean): void {
    // While nothing is awaited from a seat, its etag tags no decision: its next move means the one open by then.
    this.#decisions.set(seat, { etag: isOpen ? etag : "", version });
  }

  #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options: RpcOptions,
  ): Promise<MessageShape<O>> {
    const { timeoutMs, signal, requestId } = options;
    const attached = { timeoutMs, signal, ...this.rpcOptions };
    return this.caller.call(method, request, requestId === undefined ? attached : { ...attached, requestId });
  }
}
