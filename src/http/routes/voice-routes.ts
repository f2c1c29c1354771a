import type { HttpDependencies } from "../dependencies.ts";
import { entityTag } from "../replies/entity-tag.ts";
import { jsonReply, notModified, PRIVATE } from "../replies/reply.ts";
import { choiceParameter, readQuery, switchParameter, VOICE_LANGUAGE } from "../requests/query-parameter.ts";
import { type HttpRoute, NOT_MODIFIED } from "../route.ts";
import { voiceView } from "../views/voice-view.ts";
import { voiceIdOf } from "./record-id.ts";

/** Cache rules for samples, which change only if the operator assigns an id to another voice. */
const SAMPLE_CACHE = "private, max-age=3600";

const voicesQuery = {
  language: VOICE_LANGUAGE,
  quality: choiceParameter("quality", "Only voices with this sound.", ["natural", "robotic"]),
  variants: switchParameter(
    "variants",
    "Lists every id: variants of voices, constructed languages, accents that sound like another, and the permanent id behind `xx-YY-1`.",
  ),
};

/**
 * The routes for the available voices.
 * @param server public URL of the interface, base path included
 */
export function voiceRoutes({ queries }: Pick<HttpDependencies, "queries">, server: () => string): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/voices",
      operation: {
        id: "listVoices",
        tag: "Voices",
        summary: "List the available voices",
        description:
          "An id names one voice permanently, except `xx-YY-1`: the best voice of its language on this server, which `alias_of` names.",
        access: "read",
        cost: "small",
        query: voicesQuery,
        responses: {
          200: { description: "The voices, sorted by id.", schema: "VoiceList" },
        },
        problems: ["invalid_request"],
      },
      async run(context) {
        const voices = await queries.voices(readQuery(context.search, voicesQuery));
        const baseUrl = server();
        return jsonReply(
          200,
          voices.map((voice) => voiceView(voice, baseUrl)),
          PRIVATE,
        );
      },
    },
    {
      method: "GET",
      path: "/v1/voices/:voiceId/sample.wav",
      operation: {
        id: "hearVoice",
        tag: "Voices",
        summary: "Get a sample of a voice",
        description: "A WAV file with a short sentence in the voice's own language: 16-bit PCM, mono, 16 kHz.",
        access: "read",
        cost: ["samples"],
        path: { voiceId: "The id of the voice, such as en-US-1." },
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The sentence.", media: ["audio/wav"], headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: ["voice_not_found", "speech_unavailable", "server_busy"],
      },
      async run(context) {
        const { caller, signal } = context;
        const body = await queries.voiceSample(voiceIdOf(context), caller.userId, { signal });
        // Latin-1 maps each byte to one character.
        const etag = entityTag(new TextDecoder("latin1").decode(body));
        const headers = { "cache-control": SAMPLE_CACHE, etag };
        return (
          notModified(context, headers) ?? { status: 200, headers: { "content-type": "audio/wav", ...headers }, body }
        );
      },
    },
  ];
}
