/** Puts a kind's own message into the `oneof game` of what all games share, by descriptor: no game is known here. */

import type { DescField, DescMessage, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, isMessage } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

import { nameOf } from "./validation.js";
import type { LegalMove, Move, Options } from "./gen/sodafountain/v1/game_pb.js";
import { LegalMoveSchema, MoveSchema, OptionsSchema } from "./gen/sodafountain/v1/game_pb.js";

/** A kind's own message in the `oneof game` of an envelope. */
type KindMessage<Envelope extends { game: unknown }> = Extract<Envelope["game"], { value: unknown }>["value"];

/**
 * Which game, and how it is to be played: `Options`, as a message or spelled out
 * (`{ game: { case: "sodaJerk", value: { advanced: true } } }`), or a kind's own options message, `SodaJerkOptions` for
 * instance.
 */
export type GameOptions = MessageInitShape<typeof OptionsSchema> | KindMessage<Options>;

/**
 * A move: one of the legal moves, a `Move`, as a message or spelled out, or a kind's own move message, `SodaJerkMove` for
 * instance.
 */
export type GameMove = LegalMove | MessageInitShape<typeof MoveSchema> | KindMessage<Move>;

/**
 * Makes `Options` of what callers give.
 *
 * @throws TypeError where it is none.
 */
export function toOptions(options: GameOptions): Options {
  return wrap(OptionsSchema, options);
}

/**
 * Makes a `Move` of what callers give.
 *
 * @throws TypeError where it is none.
 */
export function toMove(move: GameMove): Move {
  if (!isMessage(move, LegalMoveSchema)) {
    return wrap(MoveSchema, move);
  }
  if (move.move === undefined) {
    throw new TypeError("the legal move has no move in it");
  }
  return toMove(move.move);
}

function wrap<Desc extends DescMessage>(schema: Desc, required: MessageInitShape<Desc> | Message): MessageShape<Desc> {
  if (typeof required !== "object" || (required as unknown) === null) {
    throw new TypeError(`${nameOf(required)} is no ${schema.name}`);
  }
  if (isMessage(required, schema)) {
    return withGame(schema, required);
  }
  if (!isMessage(required)) {
    return withGame(schema, create(schema, required));
  }
  const kinds = kindFields(schema);
  const own = kinds.find(({ message }) => message.typeName === required.$typeName);
  if (own === undefined) {
    const known = kinds.map(({ message }) => message.name).join(", ");
    throw new TypeError(`${required.$typeName} is no ${schema.name}: give one, or one of ${known}`);
  }
  const whole = create(schema);
  reflect(schema, whole).set(own.field, reflect(own.message, required));
  return whole;
}

/** Returns an envelope that has a game in it, be it one that only the service knows. */
function withGame<Desc extends DescMessage>(schema: Desc, envelope: MessageShape<Desc>): MessageShape<Desc> {
  const oneof = schema.oneofs.find(({ name }) => name === "game");
  const isSet = oneof !== undefined && reflect(schema, envelope).oneofCase(oneof) !== undefined;
  if (!isSet && (envelope.$unknown ?? []).length === 0) {
    const known = kindFields(schema).map(({ field }) => field.localName);
    throw new TypeError(
      `there is no game in the ${schema.name}: the case of its game must be one of ${known.join(", ")}`,
    );
  }
  return envelope;
}

function kindFields(schema: DescMessage): { field: DescField; message: DescMessage }[] {
  const fields = schema.oneofs.find(({ name }) => name === "game")?.fields ?? [];
  return fields.flatMap((field) => (field.fieldKind === "message" ? [{ field, message: field.message }] : []));
}
