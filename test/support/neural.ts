import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EnginePackage, enginePackages } from "../../adapters/local-models/engine-package.ts";
import { neuralTranscription } from "../../adapters/local-models/neural-transcription.ts";
import { SpeechProcesses, type SpeechProcessesOptions } from "../../adapters/local-models/speech-processes.ts";
import { concatPcm } from "../../src/audio/samples/pcm.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import { atFileEnd } from "./file-end.ts";
import { missing } from "./runtimes.ts";
import type { Sound } from "./server-sound.ts";

/** The folder with both engine packages. */
export const ENGINE_FOLDER = fileURLToPath(new URL("../runtimes/sherpa", import.meta.url));

/** Reason to skip a test that needs the engine; undefined if it is installed. */
export const missingEngine: string | undefined = existsSync(join(ENGINE_FOLDER, "node_modules"))
  ? undefined
  : missing("npm ci --prefix test/runtimes/sherpa installs the engine of speech models");

/** A build of the engine. */
export interface EngineBuild {
  readonly title: string;
  readonly packages: readonly EnginePackage[];
}

/** Both builds of the engine. */
export const ENGINE_BUILDS: readonly EngineBuild[] = (
  [
    ["native", "sherpa-onnx-node"],
    ["WebAssembly", "sherpa-onnx"],
  ] as const
).map(([title, packageName]) => ({
  title,
  packages: enginePackages(ENGINE_FOLDER).filter(({ name }) => name === packageName),
}));

/** Speech processes that end with the test file. */
export function testProcesses(options: SpeechProcessesOptions): SpeechProcesses {
  const processes = new SpeechProcesses(options);
  atFileEnd(() => processes.close());
  return processes;
}

/** Recognises a sound with the model in a folder. */
export async function recognise(folder: string, sound: Sound): Promise<string> {
  const processes = testProcesses({ packages: () => enginePackages(ENGINE_FOLDER) });
  const text = await transcribe(neuralTranscription(processes, { folder }), sound);
  processes.close();
  return text;
}

/** Transcribes a sound as one turn of a callee. @throws the error of a session that ends early */
export async function transcribe(transcription: Transcription, { samples, sampleRate }: Sound): Promise<string> {
  const options = { callId: "call_1", speaker: "callee", sampleRate } as const;
  const session = await transcription.open(options, new AbortController().signal);
  const frame = sampleRate / 50;
  const paddedSamples = concatPcm([samples, new Int16Array(sampleRate / 2)]);
  for (let at = 0; at < paddedSamples.length; at += frame)
    session.push(paddedSamples.subarray(at, at + frame), (at * 1_000) / sampleRate);
  session.commit();
  void session.close();
  const texts: string[] = [];
  for await (const event of session.events) {
    if (event.type === "final") texts.push(event.text);
    if (event.type === "error" && !event.recoverable) throw event.error;
  }
  return texts.join(" ");
}
