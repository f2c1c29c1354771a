import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import type { FrameRecorder } from "../../../src/testing/telephony-network.ts";
import { until } from "../../support/server-client.ts";
import { readWav, type Sound } from "../../support/server-sound.ts";

/** Our side's default audio. */
export const SENT_HZ = 437;

/** A recording of a peer as 16-bit mono at this rate; returns the file as well, for a recogniser. Does not block calls. */
export async function monoOf(
  recording: string,
  sampleRate = 16_000,
): Promise<{ readonly path: string; readonly sound: Sound }> {
  const path = join(dirname(recording), `${basename(recording, ".wav")}-${sampleRate}.wav`);
  const form = ["-r", String(sampleRate), "-c", "1", "-b", "16", "-e", "signed"];
  await promisify(execFile)("sox", ["-D", recording, ...form, path]);
  return { path, sound: readWav(readFileSync(path)) };
}

/** Waits until a WAV file is complete: its header has the length only once it is closed. */
export async function untilComplete(path: string): Promise<string> {
  const isComplete = (file: Buffer): boolean => file.length > 44 && file.readUInt32LE(4) === file.length - 8;
  await until(() => readFileSync(path), isComplete, 10_000, `the end of ${path}`).catch((fault: Error) => {
    throw new Error(fault.message.split(";")[0]);
  });
  return path;
}

/** Waits until a sink has received this many ms of a tone without a break. @param firstFrame frames to skip */
export async function toneIn(
  recorder: FrameRecorder,
  sampleRate: number,
  hz: number,
  ms: number,
  firstFrame = 0,
): Promise<void> {
  const end = performance.now() + 5_000;
  const count = ms / 20;
  let best = 0;
  for (let index = firstFrame; performance.now() < end; ) {
    if (recorder.frames.length < index + count) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    const share = toneShare(concatPcm(recorder.frames.slice(index, index + count)), hz, sampleRate);
    if (share > 0.95) return;
    best = Math.max(best, share);
    index++;
  }
  throw new Error(
    `no ${ms} ms of ${hz} Hz were received within 5 s: at best ${best} of it, in ${recorder.frames.length - firstFrame} frames`,
  );
}
