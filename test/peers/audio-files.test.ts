import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { loudPart, phaseJump, toneShare } from "../support/server-sound.ts";
import { folder, run, withTools } from "./tools.ts";

const LENGTH_MS = 3_000;
const HZ = 1_000;

/** Files of the same tone, 3 s of 1 kHz, as common programs write them. */
const FILES: readonly { name: string; make: (path: string) => unknown }[] = [
  { name: "44k1-128.mp3", make: (path) => ffmpeg(path, "-ar", "44100", "-b:a", "128k") },
  { name: "22k05-mono-64.mp3", make: (path) => ffmpeg(path, "-ar", "22050", "-ac", "1", "-b:a", "64k") },
  { name: "48k-stereo-vbr.mp3", make: (path) => ffmpeg(path, "-ar", "48000", "-ac", "2", "-q:a", "4") },
  { name: "16k.wav", make: (path) => sox(path, "-r", "16000", "-b", "16") },
  { name: "44k1-stereo-24.wav", make: (path) => sox(path, "-r", "44100", "-c", "2", "-b", "24") },
  { name: "48k-float.wav", make: (path) => sox(path, "-r", "48000", "-e", "floating-point", "-b", "32") },
  { name: "8k-a-law.wav", make: (path) => sox(path, "-r", "8000", "-e", "a-law") },
  { name: "8k-mu-law.wav", make: (path) => sox(path, "-r", "8000", "-e", "mu-law") },
  { name: "11k025-8.wav", make: (path) => sox(path, "-r", "11025", "-b", "8") },
  { name: "32k-from-ffmpeg.wav", make: (path) => ffmpeg(path, "-ar", "32000", "-c:a", "pcm_s32le") },
];

const ffmpeg = (path: string, ...options: readonly string[]): string =>
  run(
    ...(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i"] as const),
    `sine=frequency=${HZ}:duration=${LENGTH_MS / 1000},volume=4`,
    ...options,
    path,
  );
const sox = (path: string, ...options: readonly string[]): string =>
  run("sox", "-D", "-n", ...options, path, "synth", String(LENGTH_MS / 1000), "sine", String(HZ), "vol", "0.5");

describeEach([ON_NODE], (target) => {
  withTools("an audio file", ["ffmpeg", "sox"], () => {
    // The phone rings in real time, while the files are decoded ten at a time.
    const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
    const files = folder();

    for (const { name, make } of FILES)
      test.concurrent(`${name}: the callee hears its tone from the first 50 ms, at full length, unbroken`, async () => {
        const path = join(files, name);
        make(path);
        const client = await server.as("ada");
        const { id } = await client.call((await client.activeInstance()).id, {
          type: "FIXED_AUDIO",
          audio: { audioBase64: readFileSync(path).toString("base64") },
        });
        const { outcome } = await client.waitForCall(id);
        expect(outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
        expect(Math.abs(outcome!.heard_ms! - LENGTH_MS)).toBeLessThanOrEqual(60);

        const heardSound = await client.heard(id);
        const ms = (samples: number): number => (samples * 1000) / heardSound.sampleRate;
        const { from, to } = loudPart(heardSound, 500);
        expect(ms(from)).toBeLessThanOrEqual(50);
        expect(Math.abs(ms(to - from) - LENGTH_MS)).toBeLessThanOrEqual(20);
        expect(toneShare({ ...heardSound, samples: heardSound.samples.subarray(from, to) }, HZ)).toBeGreaterThanOrEqual(
          0.95,
        );
        // The very edges ring a little after filtering; in between, no sample is missing or doubled.
        const edge = heardSound.sampleRate / 50;
        const innerPart = { ...heardSound, samples: heardSound.samples.subarray(from + edge, to - edge) };
        expect(phaseJump(innerPart, HZ)).toBeLessThan(0.3);
      });
  });
});
