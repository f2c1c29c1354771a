import { setPriority } from "node:os";
import process from "node:process";
import type { EnginePackage } from "./engine-package.ts";
import { engineMessage, type HostEngine, type HostVoice, loadEngine } from "./host-engine.ts";
import { HostStreams } from "./host-streams.ts";
import type { FromHost, SpeakInput, ToHost } from "./messages.ts";

// The entry of a speech process (see speech-process.ts). Its argument is a JSON list of the engine's installed
// packages.

const NICE = 10;
/** The process must exit if its server has died. */
process.on("disconnect", () => process.exit(0));
lowerPriority();

const engine = load();
if (engine) serve(engine);

/** Calls take precedence over speech. */
function lowerPriority(): void {
  try {
    setPriority(NICE);
  } catch {
    // Not every system allows it.
  }
}

function load(): HostEngine | undefined {
  try {
    return loadEngine(JSON.parse(process.argv[2] ?? "[]") as readonly EnginePackage[]);
  } catch (error) {
    send({ type: "unavailable", message: engineMessage(error) });
    return undefined;
  }
}

function serve(engine: HostEngine): void {
  const voices = new Map<string, Promise<HostVoice>>();
  const streams = new HostStreams((model) => loadModel(model.folder, () => engine.loadRecogniser(model)), send);

  process.on("message", (message: ToHost) => {
    if (message.type === "speak") void speak(message);
    else streams.receive(message);
  });
  send({ type: "ready" });

  async function speak({ request, ...input }: SpeakInput & { readonly request: number }): Promise<void> {
    try {
      const voice = await voiceOf(input);
      if (input.speaker >= voice.speakers)
        throw new Error(`the model has ${voice.speakers} speakers; there is no speaker ${input.speaker}`);
      const { samples, sampleRate } = await voice.speak(input);
      send({ type: "spoken", request, sampleRate, samples: toInt16(samples) });
    } catch (error) {
      send({ type: "failed", request, message: engineMessage(error) });
    }
    send({ type: "memory", bytes: process.memoryUsage().rss });
  }

  function voiceOf({ model, language }: SpeakInput): Promise<HostVoice> {
    const key = JSON.stringify([model.folder, language]);
    const voice = voices.get(key) ?? loadModel(model.folder, () => engine.loadVoice(model, language));
    voices.set(key, voice);
    voice.catch(() => voices.delete(key));
    return voice;
  }
}

/** Loads a model between two messages, so that the server knows which model has ended the process. */
async function loadModel<Model>(folder: string, load: () => Model | Promise<Model>): Promise<Model> {
  await sendAndFlush({ type: "loading", folder });
  try {
    return await load();
  } finally {
    send({ type: "loaded", folder, bytes: process.memoryUsage().rss });
  }
}

/** Sends a message and waits until it has left the process. */
function sendAndFlush(message: FromHost): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

function send(message: FromHost): void {
  process.send?.(message);
}

function toInt16(samples: Float32Array): Int16Array {
  const out = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++)
    out[i] = Math.max(-32_768, Math.min(32_767, Math.round(samples[i]! * 32_767)));
  return out;
}
