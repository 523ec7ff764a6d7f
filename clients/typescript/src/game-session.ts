/** The calls of one seat, spectator or host about one game, and what it has seen: the commitment and the decisions. */

import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";

import { Commitment } from "./commitment.js";
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
  LegalMovesRequestSchema,
  ScoreRequestSchema,
} from "./gen/sodafountain/v1/game_service_pb.js";
import type { CallOptions, RpcClient, RpcOptions } from "./rpc-client.js";
import { randomUuid } from "./uuid.js";
import { validateToken } from "./validation.js";

/** Options of `state`. */
export interface StateOptions extends CallOptions {
  /** Whether the state lists the seat's legal moves. Default: false. */
  readonly legalMoves?: boolean | undefined;
}

/** Options of `apply`. */
export interface ApplyOptions extends CallOptions {
  /**
   * The etag of the decision that the move answers. Default: the one that was seen last. Empty: the one that is open when
   * the move arrives.
   */
  readonly etag?: string | undefined;
  /** Whether the state in the response lists the seat's next legal moves. Default: false. */
  readonly legalMoves?: boolean | undefined;
  /** The UUID (version 4) of an earlier request to repeat. Default: a new one. */
  readonly requestId?: string | undefined;
}

/** The result of `apply`: an `ApplyMoveResponse` whose state is always set. */
export type ApplyResult = ApplyMoveResponse & {
  /** The state of the game after the move, as the seat sees it. */
  state: GameState;
};

/** A decision, as seen last. */
interface Decision {
  /** Its etag; empty if the seat was not awaited. */
  readonly etag: string;
  /** The version of the game in which it was seen. */
  readonly version: bigint;
}

/**
 * The calls of one seat, spectator or host about one game. The parameter `seat` of the methods is undefined for a seat,
 * whose token identifies it, and for the view of a spectator.
 */
export class GameSession {
  /** The id of the game. */
  readonly gameId: string;
  /** The number of the caller's own seat; undefined until the service has reported it. */
  ownSeat: number | undefined;
  /** Makes the calls. */
  readonly rpc: RpcClient;
  /** The commitment to the game's seed. */
  readonly commitment: Commitment;
  readonly #headers: Readonly<Record<string, string>>;
  /** The decision that was seen last, by the `seat` parameter of the call. */
  readonly #decisions = new Map<number | undefined, Decision>();

  /**
   * @param rpc - makes the calls.
   * @param gameId - the id of the game.
   * @param token - the caller's token; undefined for a spectator without one.
   * @param commitment - the commitment to the game's seed.
   * @param ownSeat - the number of the caller's seat, if known.
   * @throws SodaFountainError with reason `TOKEN_INVALID` if the token does not fit into a header.
   */
  constructor(
    rpc: RpcClient,
    gameId: string,
    token?: { readonly secret: string },
    commitment = new Commitment(gameId),
    ownSeat?: number,
  ) {
    this.rpc = rpc;
    this.gameId = gameId;
    this.commitment = commitment;
    this.ownSeat = ownSeat;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${validateToken(token.secret)}` };
  }

  /** Return the state of the game. */
  async state(seat: number | undefined, options: StateOptions): Promise<GameState> {
    const includeLegalMoves = options.legalMoves ?? false;
    const request = create(GetGameRequestSchema, { gameId: this.gameId, seat, includeLegalMoves });
    const { state = create(GameStateSchema) } = await this.#call(GameService.method.getGame, request, options);
    this.noteState(seat, state);
    return state;
  }

  /** Return the legal moves of a seat. */
  async legalMoves(seat: number | undefined, options: CallOptions): Promise<LegalMovesResponse> {
    const request = create(LegalMovesRequestSchema, { gameId: this.gameId, seat });
    const response = await this.#call(GameService.method.legalMoves, request, options);
    this.#noteDecision(seat, response, response.moves.length > 0);
    return response;
  }

  /** Apply a move. */
  async apply(seat: number | undefined, move: GameMove, options: ApplyOptions): Promise<ApplyResult> {
    const requestId = options.requestId || randomUuid(); // an empty id is the same as no id
    const request = create(ApplyMoveRequestSchema, {
      gameId: this.gameId,
      seat,
      move: toMove(move),
      etag: options.etag ?? this.#decisions.get(seat)?.etag ?? "",
      requestId,
      includeLegalMoves: options.legalMoves ?? false,
    });
    const response = await this.#call(GameService.method.applyMove, request, { ...options, requestId });
    const { state = create(GameStateSchema) } = response;
    this.noteState(seat, state, { requestId });
    return Object.assign(response, { state });
  }

  /** Return the score. */
  score(options: CallOptions): Promise<ScoreResponse> {
    return this.#call(GameService.method.score, create(ScoreRequestSchema, { gameId: this.gameId }), options);
  }

  /** Return the history of the game, all pages combined. The first page has its facts. */
  async history(seat: number | undefined, options: CallOptions): Promise<GetHistoryResponse> {
    const getPage = (pageToken: string): Promise<GetHistoryResponse> => {
      const request = create(GetHistoryRequestSchema, { gameId: this.gameId, seat, pageToken });
      return this.#call(GameService.method.getHistory, request, options);
    };
    const history = await getPage("");
    while (history.nextPageToken !== "") {
      const { entries, nextPageToken } = await getPage(history.nextPageToken);
      history.entries = history.entries.concat(entries);
      history.nextPageToken = nextPageToken;
    }
    this.commitment.checkHistory(history);
    return history;
  }

  /** Delete the game. */
  async delete(options: CallOptions): Promise<void> {
    const request = create(DeleteGameRequestSchema, { gameId: this.gameId });
    await this.#call(GameService.method.deleteGame, request, options);
  }

  /** The options of every call about the game. */
  get rpcOptions(): RpcOptions {
    return { headers: this.#headers, gameId: this.gameId };
  }

  /**
   * Check the commitment of a state, and remember the decision that is open in it.
   *
   * A response or a snapshot always replaces what was remembered, even with an older version: the store may have lost newer
   * ones. An update replaces it only if its version is not older, since it may have been sent before the last response.
   */
  noteState(
    seat: number | undefined,
    state: GameState,
    { isUpdate = false, requestId }: { isUpdate?: boolean; requestId?: string } = {},
  ): void {
    this.commitment.checkState(state, requestId);
    const { viewerSeat } = state;
    if (viewerSeat === undefined) {
      return;
    }
    if (seat === undefined) {
      this.ownSeat = viewerSeat;
    }
    const seen = this.#decisions.get(seat);
    if (!isUpdate || seen === undefined || state.version >= seen.version) {
      this.#noteDecision(seat, state, state.awaitingSeats.includes(viewerSeat));
    }
  }

  #noteDecision(seat: number | undefined, { etag, version }: Decision, isOpen: boolean): void {
    // While a seat is not awaited, its etag belongs to no decision: its next move answers the one that opens next.
    this.#decisions.set(seat, { etag: isOpen ? etag : "", version });
  }

  #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options: RpcOptions,
  ): Promise<MessageShape<O>> {
    const { timeoutMs, signal, requestId } = options;
    const rpcOptions = { timeoutMs, signal, ...this.rpcOptions };
    return this.rpc.call(method, request, requestId === undefined ? rpcOptions : { ...rpcOptions, requestId });
  }
}
