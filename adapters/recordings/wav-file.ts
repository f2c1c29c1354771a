import { type FileHandle, open } from "node:fs/promises";
import { WAV_HEADER_BYTES, wavHeader } from "../../src/audio/wav/wav-header.ts";
import type { StoredRecording } from "../../src/ports/recordings.ts";

/** Length of one read, bytes. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a WAV file of 16-bit samples. Uses the file's size, because a crash may leave an outdated header. Resolves with
 * undefined if there is no file, or its header is incomplete.
 */
export async function readWav(path: string, channels: 1 | 2): Promise<StoredRecording | undefined> {
  const file = await openIfExists(path);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const header = new Uint8Array(WAV_HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, WAV_HEADER_BYTES, 0);
    const sampleRate = new DataView(header.buffer).getUint32(24, true);
    if (bytesRead < WAV_HEADER_BYTES || sampleRate === 0) return undefined;
    const samples = Math.floor((size - WAV_HEADER_BYTES) / (2 * channels));
    const wavBytes = WAV_HEADER_BYTES + samples * 2 * channels;
    return {
      size: wavBytes,
      durationMs: (samples * 1000) / sampleRate,
      bytes: (from = 0, to = wavBytes) =>
        pieces(path, wavHeader({ sampleRate, channels, samples }), from, Math.min(to, wavBytes)),
    };
  } finally {
    await file.close();
  }
}

/** Writes all bytes, even if the system accepts fewer at a time. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let offset = 0;
  while (offset < bytes.length) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, position + offset);
    offset += bytesWritten;
  }
}

async function* pieces(path: string, header: Uint8Array, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from < WAV_HEADER_BYTES && from < to) yield header.subarray(from, Math.min(to, WAV_HEADER_BYTES));
  const file = await open(path, "r");
  try {
    for (let position = Math.max(from, WAV_HEADER_BYTES); position < to; ) {
      const piece = new Uint8Array(Math.min(PIECE_BYTES, to - position));
      const { bytesRead } = await file.read(piece, 0, piece.length, position);
      if (bytesRead === 0) throw new Error(`${path} has become shorter while it was read`);
      yield piece.subarray(0, bytesRead);
      position += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (fault) {
    if ((fault as { code?: unknown }).code === "ENOENT") return undefined;
    throw fault;
  }
}
