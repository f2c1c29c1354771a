import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { concatPcm, msToSamples } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Folder of the tone models. */
export const FIXTURE_MODELS: string = fileURLToPath(new URL("../fixtures/models", import.meta.url));

/** Copies the tone models to a fresh folder and returns its path. */
export function toneModels(): string {
  const folder = temporaryFolder("models");
  for (const { name } of readdirSync(FIXTURE_MODELS, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    cpSync(join(FIXTURE_MODELS, name), join(folder, name), { recursive: true });
  return folder;
}

const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 ";
const FIRST_HZ = 400;
const STEP_HZ = 60;
const TONE_MS = 60;
const PAUSE_MS = 60;

/** A text as the tone voices speak it. */
export function spokenTones(text: string, sampleRate: number): Int16Array {
  const pause = new Int16Array(msToSamples(PAUSE_MS, sampleRate));
  return concatPcm(
    [...text].flatMap((character) => [
      tone(FIRST_HZ + STEP_HZ * CHARACTERS.indexOf(character), TONE_MS, sampleRate, 8_000),
      pause,
    ]),
  );
}
