import * as v from "valibot";
import {
  characters,
  issuePath,
  issueText,
  type Schema,
  storableText,
  visibleText,
  wholeMs,
  withJsonSchema,
} from "../input/input-checks.ts";
import type { Limits } from "../limits.ts";
import { type AudioPlace, audioFault, type StoredAudioPlace, UploadedAudio } from "./audio-input.ts";

/** Maximum length of an id that is looked up, characters; ids have 32. */
const MAX_ID_LENGTH = 100;

/** The body of `POST /v1/audio`. */
export interface CreateAudioInput {
  /** The file, Base64-encoded: MP3 or WAV. */
  audio: { audioBase64: string };
  /** Your own name for the file. */
  name?: string | null | undefined;
  /** Time after which the file expires, ms; up to a year. Default: it is kept until it is deleted. */
  expiresInMs?: number | null | undefined;
}

/** A checked body of `POST /v1/audio`. */
export type CheckedAudioInput = Omit<CreateAudioInput, "audio"> & { audio: AudioPlace };

/** Longest time after which a stored file expires, ms: 366 days. */
export const MAX_AUDIO_LIFE_MS: number = 366 * 86_400_000;

/** The schema of {@link CreateAudioInput}. */
export function createAudioSchema(limits: Limits): Schema<CheckedAudioInput> {
  const name = v.pipe(
    v.string(),
    v.trim(),
    characters(1, limits.nameLength, "the name"),
    visibleText("the name"),
    storableText("the name"),
    v.description("Your own name for the file."),
  );
  return v.object({
    audio: v.object({ audioBase64: audioFileSchema(limits) }),
    name: v.optional(v.nullable(name)),
    expiresInMs: v.optional(
      v.nullable(
        wholeMs(
          1,
          MAX_AUDIO_LIFE_MS,
          "Time after which the file expires, ms. Default: it is kept until it is deleted.",
        ),
      ),
    ),
  });
}

/** A file, or the id of a stored one. */
export function callAudioSchema(limits: Limits): Schema<AudioPlace | StoredAudioPlace> {
  const audioId = v.pipe(
    v.string(),
    v.minLength(1, issueText("too_short", "must not be empty")),
    v.maxLength(MAX_ID_LENGTH, issueText("too_long", `at most ${MAX_ID_LENGTH} characters are allowed`)),
    v.description("The id of a file that `POST /v1/audio` has stored; in place of `audioBase64`."),
  );
  const fields = v.object({ audioBase64: v.optional(audioFileSchema(limits)), audioId: v.optional(audioId) });
  const oneOf = v.rawCheck<v.InferOutput<typeof fields>>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { audioBase64, audioId } = dataset.value;
    if (audioBase64 === undefined && audioId === undefined)
      addIssue({
        message: "",
        received: "undefined",
        path: [{ type: "object", origin: "value", input: { ...dataset.value }, key: "audioBase64", value: undefined }],
      });
    if (audioBase64 !== undefined && audioId !== undefined)
      addIssue({
        message: issueText("value_invalid", "audioBase64 and audioId exclude each other; send one of them"),
        path: issuePath("audioId"),
      });
  });
  const json = { oneOf: [{ required: ["audioBase64"] }, { required: ["audioId"] }] };
  return v.pipe(fields, withJsonSchema(oneOf, json)) as unknown as Schema<AudioPlace | StoredAudioPlace>;
}

/** The schema of an audio file as Base64, or decoded already. */
export function audioFileSchema(limits: Limits): Schema<string | UploadedAudio> {
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (typeof value !== "string" && !(value instanceof UploadedAudio))
        return addIssue({ message: issueText("type_invalid", "must be a string") });
      const fault = audioFault(value, limits.audioBytes);
      if (fault) addIssue({ message: issueText("audio_unsupported", fault) });
    }),
  );
  return withJsonSchema(schema, {
    type: "string",
    contentEncoding: "base64",
    description: `An MP3 or WAV file, at most ${limits.audioBytes} bytes and ${limits.audioMs / 60_000} minutes.`,
  }) as Schema<string | UploadedAudio>;
}
