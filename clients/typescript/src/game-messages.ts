/**
 * Converts the arguments of callers to `Options` and `Move`. Descriptors give the message of each game, so a new game
 * needs no change here.
 */

import type { DescField, DescMessage, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { create, isMessage } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

import type { LegalMove, Move, Options } from "./gen/sodafountain/v1/game_pb.js";
import { LegalMoveSchema, MoveSchema, OptionsSchema } from "./gen/sodafountain/v1/game_pb.js";
import { typeName } from "./validation.js";

/** A message in the `oneof game` of `Options` or `Move`, such as `SodaJerkOptions`. */
type KindMessage<Wrapper extends { game: unknown }> = Extract<Wrapper["game"], { value: unknown }>["value"];

/**
 * The game to create and its options: `Options`, as a message or as an object
 * (`{ game: { case: "sodaJerk", value: { advanced: true } } }`), or the options message of a game, such as
 * `SodaJerkOptions`.
 */
export type GameOptions = MessageInitShape<typeof OptionsSchema> | KindMessage<Options>;

/**
 * A move: one of the legal moves, a `Move` as a message or as an object, or the move message of a game, such as
 * `SodaJerkMove`.
 */
export type GameMove = LegalMove | MessageInitShape<typeof MoveSchema> | KindMessage<Move>;

/**
 * Convert to `Options`.
 *
 * @throws TypeError if the argument has another type, or no game in it.
 */
export function toOptions(options: GameOptions): Options {
  return wrap(OptionsSchema, options);
}

/**
 * Convert to `Move`.
 *
 * @throws TypeError if the argument has another type, or no game in it.
 */
export function toMove(move: GameMove): Move {
  if (!isMessage(move, LegalMoveSchema)) {
    return wrap(MoveSchema, move);
  }
  if (move.move === undefined) {
    throw new TypeError("the field move of the LegalMove is not set");
  }
  return toMove(move.move);
}

function wrap<Desc extends DescMessage>(schema: Desc, value: MessageInitShape<Desc> | Message): MessageShape<Desc> {
  if (typeof value !== "object" || (value as unknown) === null) {
    throw new TypeError(`${schema.name.toLowerCase()} must be ${schema.name}, not ${typeName(value)}`);
  }
  if (isMessage(value, schema)) {
    return requireGame(schema, value);
  }
  if (!isMessage(value)) {
    return requireGame(schema, create(schema, value));
  }
  const kinds = kindFields(schema);
  const kind = kinds.find(({ message }) => message.typeName === value.$typeName);
  if (kind === undefined) {
    const names = kinds.map(({ message }) => message.name).join(", ");
    throw new TypeError(
      `${schema.name.toLowerCase()} must be ${schema.name} or one of ${names}, not ${value.$typeName}`,
    );
  }
  const wrapped = create(schema);
  reflect(schema, wrapped).set(kind.field, reflect(kind.message, value));
  return wrapped;
}

/** Check that a game is set; it may be one that only the service knows. */
function requireGame<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  const oneof = schema.oneofs.find(({ name }) => name === "game");
  const isSet = oneof !== undefined && reflect(schema, message).oneofCase(oneof) !== undefined;
  if (!isSet && (message.$unknown ?? []).length === 0) {
    const names = kindFields(schema).map(({ field }) => field.localName);
    throw new TypeError(`the ${schema.name} has no game: game.case must be one of ${names.join(", ")}`);
  }
  return message;
}

/** Return the fields of the `oneof game`, each with its message. */
function kindFields(schema: DescMessage): { field: DescField; message: DescMessage }[] {
  const fields = schema.oneofs.find(({ name }) => name === "game")?.fields ?? [];
  return fields.flatMap((field) => (field.fieldKind === "message" ? [{ field, message: field.message }] : []));
}
