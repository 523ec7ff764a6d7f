/**
 * A service for tests, in this process. Its only game has six moves: each seat in turn chooses one of two labels.
 */

import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";

import { GameStatus, type GameStateSchema } from "../src/gen/sodafountain/v1/game_pb.js";
import { GameService, WatchEndReason } from "../src/gen/sodafountain/v1/game_service_pb.js";
import { COMMITMENT, GAME } from "./fakes.js";

const MOVES = 6;

/** A running service. */
export interface Service {
  /** The gRPC address, `host:port`. */
  readonly target: string;
  /** The gRPC-Web URL. */
  readonly url: string;
  /** Stop the service and close its connections. */
  close(): void;
}

/** The state of the game. */
class FakeGame {
  version = 1;
  #wake: (() => void)[] = [];

  constructor(readonly seats: number) {}

  get finished(): boolean {
    return this.version > MOVES;
  }

  move(): void {
    this.version++;
    this.#wake.splice(0).forEach((wake) => {
      wake();
    });
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  state(viewerSeat: number | undefined): MessageInitShape<typeof GameStateSchema> {
    const awaited = (this.version - 1) % this.seats;
    return {
      gameId: GAME,
      seatCount: this.seats,
      status: this.finished ? GameStatus.FINISHED : GameStatus.ACTIVE,
      version: BigInt(this.version),
      etag: `of ${this.version}`,
      viewerSeat,
      awaitingSeats: this.finished ? [] : [awaited],
      prompt: "Move.",
      legalMoves: this.moves(viewerSeat),
      seedCommitment: COMMITMENT,
    };
  }

  moves(seat: number | undefined): { move: { game: { case: "sodaJerk"; value: object } }; label: string }[] {
    const isAwaited = !this.finished && seat === (this.version - 1) % this.seats;
    return isAwaited
      ? ["One", "Other"].map((label) => ({ move: { game: { case: "sodaJerk", value: {} } }, label }))
      : [];
  }
}

function routes(router: ConnectRouter): void {
  let game = new FakeGame(1);
  const seatOf = (seat: number | undefined, headers: Headers): number | undefined => {
    const token = /^Bearer seat-(\d+)$/.exec(headers.get("authorization") ?? "");
    return seat ?? (token === null ? undefined : Number(token[1]));
  };
  router.service(GameService, {
    listGameKinds: () => ({
      gameKinds: [{ title: "Turns", presets: [{ game: { case: "sodaJerk", value: {} } }], minSeats: 2, maxSeats: 4 }],
    }),
    newGame(request) {
      game = new FakeGame(request.seatCount);
      const seatTokens = Array.from({ length: game.seats }, (_, seat) => `seat-${seat}`);
      return { state: game.state(undefined), hostToken: "host", seatTokens, spectatorToken: "spectator" };
    },
    getGame: (request, context) => ({ state: game.state(seatOf(request.seat, context.requestHeader)) }),
    legalMoves(request, context) {
      const seat = seatOf(request.seat, context.requestHeader);
      const { version, etag, awaitingSeats, prompt } = game.state(seat);
      return { version, etag, awaitingSeats, prompt, moves: game.moves(seat) } as never;
    },
    applyMove(request, context) {
      const seat = seatOf(request.seat, context.requestHeader);
      if (game.moves(seat).length === 0) {
        throw new ConnectError("Not now.", Code.FailedPrecondition);
      }
      game.move();
      return { committedVersion: BigInt(game.version), events: [], state: game.state(seat) };
    },
    score: () => ({ version: BigInt(game.version), finished: game.finished, note: "All seats win." }),
    getHistory: () => ({ seatCount: game.seats, seedCommitment: COMMITMENT, entries: [{ version: 1n }] }),
    async *watchGame(request, context) {
      const seat = seatOf(request.seat, context.requestHeader);
      yield { resumeToken: "first", item: { case: "snapshot", value: game.state(seat) } };
      while (!game.finished) {
        // The tests play one seat only; the other seats move here.
        if (game.moves(seat).length === 0) {
          game.move();
        } else {
          await game.changed();
        }
        const events = [{ text: `Version ${game.version}.` }];
        yield { resumeToken: "more", item: { case: "update", value: { events, state: game.state(seat) } } };
      }
      yield { resumeToken: "end", item: { case: "end", value: { reason: WatchEndReason.FINISHED } } };
    },
  });
}

/** Start a service. */
export async function startService(): Promise<Service> {
  const adapter = connectNodeAdapter({ routes });
  const grpc = http2.createServer(adapter);
  const sessions = new Set<http2.ServerHttp2Session>();
  grpc.on("session", (session) => sessions.add(session));
  const web = http.createServer(adapter);
  const [grpcPort, webPort] = await Promise.all([listen(grpc), listen(web)]);
  return {
    target: `127.0.0.1:${grpcPort}`,
    url: `http://127.0.0.1:${webPort}`,
    close() {
      sessions.forEach((session) => {
        session.destroy();
      });
      grpc.close();
      web.closeAllConnections();
      web.close();
    },
  };
}

/** Start a server on a free port; return the port. */
export function listen(server: http.Server | http2.Http2Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
