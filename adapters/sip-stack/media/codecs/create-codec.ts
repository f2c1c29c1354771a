import type { Codec, CodecName } from "./codec.ts";
import { createG711 } from "./g711.ts";
import { createG722 } from "./g722.ts";
import { createOpus } from "./opus.ts";

/** A new encoder and decoder; a promise if the codec's library must be loaded, which rejects if that fails. */
export function createCodec(name: CodecName): Codec | Promise<Codec> {
  return CODECS[name]();
}

const CODECS: Readonly<Record<CodecName, () => Codec | Promise<Codec>>> = {
  PCMU: () => createG711("PCMU"),
  PCMA: () => createG711("PCMA"),
  G722: createG722,
  opus: createOpus,
};
