import type { Codec } from "./codec.ts";
import { createG711 } from "./g711.ts";
import { createG722 } from "./g722.ts";
import { createOpus } from "./opus.ts";

/** A new encoder and decoder; a promise if the codec's library must be loaded, which rejects if that fails. */
export function createCodec(name: Codec["name"]): Codec | Promise<Codec> {
  if (name === "opus") return createOpus();
  return name === "G722" ? createG722() : createG711(name);
}
