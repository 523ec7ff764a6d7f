/**
 * The Protobuf messages of `sodafountain.v1`, and functions to create, compare and serialize them.
 *
 * 64-bit fields, such as `version`, are `bigint`.
 *
 * @module
 */
export {
  clone,
  create,
  equals,
  fromBinary,
  fromJson,
  fromJsonString,
  isMessage,
  toBinary,
  toJson,
  toJsonString,
} from "@bufbuild/protobuf";
export type { JsonObject, JsonValue, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
export * from "./gen/sodafountain/v1/errors_pb.js";
export * from "./gen/sodafountain/v1/game_pb.js";
export * from "./gen/sodafountain/v1/game_service_pb.js";
export * from "./gen/sodafountain/v1/juices_pb.js";
export * from "./gen/sodafountain/v1/soda_jerk_pb.js";
export * from "./gen/sodafountain/v1/soda_smugglers_pb.js";
