import * as v from "valibot";
import type { Voice as OfferedVoice } from "../../ports/speech.ts";
import type { View } from "../response-types.ts";
import { shape } from "./shape.ts";

export const voiceShape = shape("An available voice.", {
  id: v.string(),
  language: v.pipe(v.string(), v.description("BCP 47.")),
  engine: v.string(),
  name: v.string(),
  quality: v.picklist(["robotic", "natural"]),
  alias_of: v.nullable(
    v.pipe(
      v.string(),
      v.description(
        "Of xx-YY-1, the best voice of its language on this server: the permanent id of that voice at present.",
      ),
    ),
  ),
  sample_url: v.pipe(v.string(), v.description("Address of a sample as a WAV file, for the same token.")),
});

/** @param server public URL of the interface, base path included */
export function voiceView(voice: OfferedVoice, server: string): View<"Voice"> {
  const { id, language, engine, name, quality, aliasOf: alias_of = null } = voice;
  const sample_url = `${server}/v1/voices/${encodeURIComponent(id)}/sample.wav`;
  return { id, language, engine, name, quality, alias_of, sample_url };
}
