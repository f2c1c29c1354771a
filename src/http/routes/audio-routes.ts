import { sha256OfBytes } from "../../base/sha256.ts";
import { UploadedAudio } from "../../domain/calls/audio-input.ts";
import { type CreateAudioInput, MAX_AUDIO_LIFE_MS } from "../../domain/calls/audio-schemas.ts";
import type { BodyReaders } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { createOptions, creationReply } from "../replies/creation.ts";
import { page } from "../replies/list-reply.ts";
import { noContentAfter, record } from "../replies/reply.ts";
import {
  cursorParameter,
  limitParameter,
  type QueryParameter,
  readQuery,
  textParameter,
} from "../requests/query-parameter.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { type HttpRoute, NOT_MODIFIED, operationsOf } from "../route.ts";
import { audioView } from "../views/audio-view.ts";
import { audioIdOf } from "./record-id.ts";

const path = { audioId: "The id of the file, with the prefix audio_." };
const DEFAULT_LIMIT = 50;
const listQuery = { limit: limitParameter(200, String(DEFAULT_LIMIT)), cursor: cursorParameter("audio") };
const expiresInMs: QueryParameter<number> = {
  name: "expiresInMs",
  description: "Time after which an uploaded file expires, ms. Default: it is kept until it is deleted.",
  schema: { type: "integer", minimum: 1, maximum: MAX_AUDIO_LIFE_MS },
  rule: `a whole number from 1 to ${MAX_AUDIO_LIFE_MS} (ms)`,
  read: (text) => (/^[1-9]\d{0,11}$/.test(text) && Number(text) <= MAX_AUDIO_LIFE_MS ? Number(text) : undefined),
};
const fileQuery = { name: textParameter("name", "Your own name for an uploaded file."), expiresInMs };
const AUDIO_TYPE = /^\s*audio\//i;
const TYPE_RULE = "must begin with audio/, or be application/json or omitted";

/** The routes for stored audio files. */
export function audioRoutes(
  { audio, limits }: Pick<HttpDependencies, "audio" | "limits">,
  { readJson, readFile }: BodyReaders,
): HttpRoute[] {
  const operation = operationsOf("Audio");

  /** The body: JSON, or the file itself with its fields in the query. */
  async function readInput(context: RequestContext): Promise<CreateAudioInput> {
    if (!AUDIO_TYPE.test(context.header("content-type") ?? ""))
      return (await readJson(context, limits.bodyBytes, { typeRule: TYPE_RULE })) as CreateAudioInput;
    const fields = readQuery(context.search, fileQuery);
    const bytes = await readFile(context, limits.audioBytes);
    const audioBase64 = new UploadedAudio(bytes, await sha256OfBytes(bytes));
    return { audio: { audioBase64: audioBase64 as never }, ...fields };
  }

  return [
    {
      method: "POST",
      path: "/v1/audio",
      operation: operation("createAudio", "Store an audio file", {
        access: "call",
        cost: ["bodies", "inspections"],
        description:
          "Send the file itself with a Content-Type of audio, or JSON. Calls and batches name the file as `audio.audioId`. " +
          "If you already have a file with the same content, it is not stored again; the response is 200 with the existing " +
          "file, which expires at the later of both times.",
        query: fileQuery,
        headers: ["Idempotency-Key", "Prefer"],
        body: { schema: "CreateAudio", media: ["audio/*"] },
        responses: {
          201: {
            description: "The file was stored.",
            schema: "AudioFile",
            headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
          },
          200: {
            description: "You already have this file.",
            schema: "AudioFile",
            headers: ["Preference-Applied"],
          },
        },
        problems: [
          ...(["invalid_request", "invalid_json", "audio_unsupported", "idempotency_key_invalid"] as const),
          ...(["demo_token_restricted", "audio_not_found", "audio_quota", "storage_quota"] as const),
          ...(["idempotency_key_in_progress", "idempotency_key_reused", "body_too_large"] as const),
          ...(["unsupported_media_type", "request_timeout", "server_busy"] as const),
        ],
      }),
      async run(context) {
        const input = await readInput(context);
        const options = { ...createOptions(context), signal: context.signal };
        const file = await audio.create(context.caller, input, options);
        return creationReply(context, file, audioView(file));
      },
    },
    {
      method: "GET",
      path: "/v1/audio",
      operation: operation("listAudio", "List stored audio files, newest first", {
        access: "read",
        cost: ["pages"],
        query: listQuery,
        responses: { 200: { description: "One page.", schema: "AudioFileList", headers: ["Link"] } },
        problems: ["invalid_request", "demo_token_restricted"],
      }),
      async run(context) {
        const { limit = DEFAULT_LIMIT, cursor } = readQuery(context.search, listQuery);
        return page(context, limit, cursor, (part) => audio.list(context.caller, part), audioView);
      },
    },
    {
      method: "GET",
      path: "/v1/audio/:audioId",
      operation: operation("getAudio", "Read the properties of a stored audio file", {
        access: "read",
        cost: "small",
        path,
        headers: ["If-None-Match"],
        responses: {
          200: { description: "The file's properties.", schema: "AudioFile", headers: ["ETag"] },
          304: NOT_MODIFIED,
        },
        problems: ["demo_token_restricted", "audio_not_found"],
      }),
      run: async (context) => record(context, audioView(await audio.get(context.caller, audioIdOf(context)))),
    },
    {
      method: "DELETE",
      path: "/v1/audio/:audioId",
      operation: operation("deleteAudio", "Delete a stored audio file", {
        access: "call",
        cost: "small",
        description: "Calls and batches that were accepted with the file still play it.",
        path,
        responses: { 204: { description: "The file was deleted." } },
        problems: ["demo_token_restricted", "audio_not_found"],
      }),
      run: async (context) => noContentAfter(audio.delete(context.caller, audioIdOf(context))),
    },
  ];
}
