import type { Codec } from "./codec.ts";
import { createG711 } from "./g711.ts";

export type { Codec };

/** A new encoder and decoder; a promise where the codec's library has to be loaded, which rejects where it cannot be. */
export function createCodec(name: Codec["name"]): Codec | Promise<Codec> {
  if (name === "opus") throw new Error("Opus is not there yet.");
  return createG711(name);
}
