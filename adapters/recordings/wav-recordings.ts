import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { wavHeader } from "../../src/audio/wav.ts";
import type { Recordings, StoredRecording } from "../../src/ports/recordings.ts";
import { BLOCK_BYTES, HEADER_BYTES, WavRecording } from "./wav-recording.ts";

/** Read at once, bytes. */
const PIECE_BYTES = 64 * 1024;
/** Recordings that begin together write their first batch at so many different times. */
const STAGGERS = 25;

/** What the folder of recordings needs. */
export interface WavRecordingsOptions {
  /** Where they are kept, a file for each call; made when the first call is recorded. */
  readonly folder: string;
  /** Makes the folder that it is in, where that may be missing. */
  readonly makeParent?: (() => Promise<unknown>) | undefined;
  /** Opens files to be written; that of Node unless given. */
  readonly open?: typeof open | undefined;
}

/** Keeps the recordings of calls as WAV files in a folder. */
export function wavRecordings(options: WavRecordingsOptions): Recordings {
  const { folder } = options;
  const growing = new Map<string, WavRecording>();
  const pathOf = (callId: string): string => join(folder, `${encodeURIComponent(callId)}.wav`);
  let ready: Promise<unknown> | undefined;
  let begun = 0;

  const makeFolder = (): Promise<unknown> => {
    ready ??= made(folder, options.makeParent).catch((fault: unknown) => {
      ready = undefined;
      throw fault;
    });
    return ready;
  };

  return {
    record(callId, sampleRate, incomplete) {
      const replaced = growing.get(callId)?.finish();
      const recording = new WavRecording({
        path: pathOf(callId),
        sampleRate,
        ready: async () => {
          await replaced; // it has the same file
          await makeFolder();
        },
        incomplete,
        stagger: ((begun++ % STAGGERS) + 1) / STAGGERS,
        open: options.open,
      });
      growing.set(callId, recording);
      return {
        get recordedMs() {
          return recording.recordedMs;
        },
        write: (heard, said, samples) => recording.write(heard, said, samples),
        finish: async () => {
          await recording.finish();
          if (growing.get(callId) === recording) growing.delete(callId);
        },
      };
    },
    async read(callId) {
      await growing.get(callId)?.flush();
      return readRecording(pathOf(callId));
    },
    async forget(callIds) {
      for (const callId of callIds) {
        await growing.get(callId)?.finish();
        await rm(pathOf(callId), { force: true });
      }
    },
    async close() {
      await Promise.all([...growing.values()].map((recording) => recording.finish()));
    },
  };
}

async function made(folder: string, makeParent: () => Promise<unknown> = async () => {}): Promise<void> {
  await makeParent();
  await mkdir(folder, { mode: 0o700 }).catch((fault: { code?: unknown }) => {
    if (fault.code !== "EEXIST") throw fault;
  });
}

/** What there is of a recording, by the size of its file: a crash may leave the header behind the samples. */
async function readRecording(path: string): Promise<StoredRecording | undefined> {
  const file = await opened(path);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const stated = new Uint8Array(HEADER_BYTES);
    const { bytesRead } = await file.read(stated, 0, HEADER_BYTES, 0);
    const sampleRate = new DataView(stated.buffer).getUint32(24, true);
    if (bytesRead < HEADER_BYTES || sampleRate === 0) return undefined;
    const samples = Math.floor((size - HEADER_BYTES) / BLOCK_BYTES);
    const whole = HEADER_BYTES + samples * BLOCK_BYTES;
    return {
      size: whole,
      durationMs: (samples * 1000) / sampleRate,
      bytes: (from = 0, to = whole) =>
        pieces(path, wavHeader({ sampleRate, channels: 2, samples }), from, Math.min(to, whole)),
    };
  } finally {
    await file.close();
  }
}

async function* pieces(path: string, header: Uint8Array, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from < HEADER_BYTES && from < to) yield header.subarray(from, Math.min(to, HEADER_BYTES));
  const file = await open(path, "r");
  try {
    for (let at = Math.max(from, HEADER_BYTES); at < to; ) {
      const piece = new Uint8Array(Math.min(PIECE_BYTES, to - at));
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error(`${path} has become shorter while it was read`);
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (fault) {
    if ((fault as { code?: unknown }).code === "ENOENT") return undefined;
    throw fault;
  }
}
