import { readFile } from "node:fs/promises";
import { workerDecoder } from "../../../adapters/audio/worker-decoder.ts";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";

// Speaks and decodes, then stops: the process must end although the pool was never closed.
const pool = embeddedWorkers();
const speech = embeddedSpeech({ pool });
for (const voiceId of ["en-US-1", "pt-BR-1"]) {
  let samples = 0;
  for await (const piece of speech.speak("One, two, three.", voiceId, new AbortController().signal)) {
    samples += piece.samples.length;
  }
  console.log(`${voiceId} spoke ${samples > 8000 ? "well" : "too little"}`);
}
const file = await readFile(new URL("../../fixtures/tone-16k-mono-vbr.mp3", import.meta.url));
const { durationMs } = await workerDecoder(pool).inspect(file, { maxDurationMs: 10_000 });
console.log(`decoded ${durationMs} ms`);
