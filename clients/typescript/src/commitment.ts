/** The commitment to a game's seed: keep the first one, and compare every later state and history with it. */

import { clone, equals, fromJsonString } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";
// `crypto.subtle` is missing on pages that are not served over HTTPS.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { SodaFountainError } from "./errors.js";
import type { GameState, Options } from "./gen/sodafountain/v1/game_pb.js";
import { GameStatus, OptionsSchema } from "./gen/sodafountain/v1/game_pb.js";
import type { GetHistoryResponse } from "./gen/sodafountain/v1/game_service_pb.js";

const HEADING = "sodafountain.v1";
const SEED_BYTES = 32;

/** The commitment of one game, which seats and hosts may share. */
export class Commitment {
  readonly #gameId: string;
  #kept: Uint8Array | undefined;

  /**
   * @param gameId - the id of the game.
   * @param kept - the commitment that was kept before; undefined to keep that of the first state.
   */
  constructor(gameId: string, kept?: Uint8Array) {
    this.#gameId = gameId;
    this.#kept = kept && Uint8Array.from(kept); // a copy, which the caller cannot change
  }

  /** The commitment of the first state, 32 bytes; undefined before the first state. */
  get kept(): Uint8Array | undefined {
    return this.#kept && Uint8Array.from(this.#kept);
  }

  /**
   * Keep the commitment of the first state, and compare that of every other one with it.
   *
   * @param state - a state of the game.
   * @param requestId - the request id of the call, for the error.
   * @throws SodaFountainError with reason `COMMITMENT_CHANGED` if it differs from the one that is kept.
   */
  checkState({ seedCommitment }: GameState, requestId?: string): void {
    if (this.#kept === undefined && seedCommitment.length > 0) {
      this.#kept = Uint8Array.from(seedCommitment);
    }
    this.#compare(seedCommitment, requestId);
  }

  /**
   * Compare a history with the commitment. If the history reveals the seed, also compare both with its text.
   *
   * @throws SodaFountainError with reason `COMMITMENT_CHANGED` if the history does not match.
   */
  checkHistory(history: GetHistoryResponse): void {
    const { seedCommitment, commitmentText } = history;
    this.#compare(seedCommitment);
    if (history.status !== GameStatus.FINISHED || history.sealed) {
      return;
    }
    if (!equalBytes(sha256(utf8ToBytes(commitmentText)), seedCommitment) || !this.#isAbout(history)) {
      throw changed(`The history of game ${this.#gameId} does not match its seed commitment.`);
    }
  }

  #compare(found: Uint8Array, requestId?: string): void {
    if (this.#kept !== undefined && !equalBytes(found, this.#kept)) {
      throw changed(`The seed commitment of game ${this.#gameId} has changed.`, requestId);
    }
  }

  /** Return whether the text of a history names this game and the facts of the history. A later release may add lines. */
  #isAbout({ commitmentText, gameId, seatCount, options, seed }: GetHistoryResponse): boolean {
    const [heading, ...lines] = commitmentText.replace(/\n$/, "").split("\n");
    const facts = new Map(lines.map((line) => splitLine(line)));
    return (
      heading === HEADING &&
      commitmentText.endsWith("\n") &&
      facts.size === lines.length &&
      facts.get("game") === this.#gameId &&
      gameId === this.#gameId &&
      facts.get("seats") === String(seatCount) &&
      seed.length === SEED_BYTES &&
      facts.get("seed") === bytesToHex(seed) &&
      options !== undefined &&
      isJsonOf(options, facts.get("options") ?? "")
    );
  }
}

/** Split a line of the text into a name and a value. */
function splitLine(line: string): [string, string] {
  const [name = ""] = line.split(" ", 1);
  return [name, line.slice(name.length + 1)];
}

function isJsonOf(options: Options, json: string): boolean {
  let parsed: Options;
  try {
    parsed = fromJsonString(OptionsSchema, json, { ignoreUnknownFields: true });
  } catch {
    return false;
  }
  return equals(OptionsSchema, withoutUnknownValues(parsed), withoutUnknownValues(options));
}

/** Return options without the enum values of a later release. `equals` ignores the fields of a later release. */
function withoutUnknownValues(options: Options): Options {
  const known = clone(OptionsSchema, options);
  clearUnknownValues(reflect(OptionsSchema, known));
  return known;
}

/** Clear the enum values that this release does not know. No options have a map, or a list of messages or enum values. */
function clearUnknownValues(message: ReflectMessage): void {
  for (const field of message.fields.filter((field) => message.isSet(field))) {
    if (field.fieldKind === "message") {
      clearUnknownValues(message.get(field));
    } else if (field.fieldKind === "enum" && field.enum.value[message.get(field)] === undefined) {
      message.clear(field);
    }
  }
}

function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function changed(message: string, requestId?: string): SodaFountainError {
  return new SodaFountainError(message, { code: "DATA_LOSS", reason: "COMMITMENT_CHANGED", requestId });
}
