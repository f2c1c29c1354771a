import { randomKey } from "../base/hex.ts";
import type { CreateAudioInput } from "../domain/calls/audio-schemas.ts";
import type { CreateOptions, RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type Page, type PageQuery } from "./list-pages.ts";
import type { AudioFile } from "./views.ts";

/** An audio file to store: MP3 or WAV, as bytes or as Base64. */
export type NewAudioFile = CreateAudioInput | AudioUpload;

/** The bytes of an audio file, which are sent as they are. */
export interface AudioUpload extends Omit<CreateAudioInput, "audio"> {
  file: Blob | Uint8Array<ArrayBuffer>;
}

/** Stored audio files. All methods throw `RingportError`. */
export interface AudioClient {
  /**
   * Stores an audio file once; calls and batches name it as `audio: { audioId }`. If you already have a file with the
   * same content, the result is that file.
   *
   * ```ts
   * const { id: audioId } = await ringport.audio.create({ file: await openAsBlob("greeting.mp3") });
   * await ringport.calls.create({ instanceId, type: "FIXED_AUDIO", target, audio: { audioId } });
   * ```
   */
  create(input: NewAudioFile, options?: CreateOptions): Promise<AudioFile>;
  get(id: string, options?: RequestOptions): Promise<AudioFile>;
  /** Deletes a file. Calls and batches that were accepted with it still play it. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** All files, newest first, read in pages of `limit` files. */
  list(query?: PageQuery, options?: RequestOptions): AsyncGenerator<AudioFile, void, undefined>;
  /** One page of the files. */
  page(query?: PageQuery, options?: RequestOptions): Promise<Page<AudioFile>>;
}

const PAGE_SIZE = 200;

export function audioClient(transport: Transport): AudioClient {
  const root = "/v1/audio";
  const pathOf = (id: string) => `${root}/${encodeURIComponent(id)}`;
  const page: AudioClient["page"] = (query = {}, options) => transport.page(root, { ...query }, options);
  return {
    async create(input, options = {}) {
      const { idempotencyKey = randomKey() } = options;
      if (!("file" in input)) return (await transport.post<AudioFile>(root, input, idempotencyKey, options)).body;
      const { file, name, expiresInMs } = input;
      const query = { name: name ?? undefined, expiresInMs: expiresInMs ?? undefined };
      return transport.upload(root, query, { type: "audio/*", body: file }, { ...options, idempotencyKey });
    },
    get: (id, options) => transport.get(pathOf(id), {}, options),
    delete: (id, options) => transport.delete(pathOf(id), options),
    list: ({ limit = PAGE_SIZE, cursor } = {}, options) =>
      allItems((cursor) => page({ limit, cursor }, options), cursor),
    page,
  };
}
