import type { TranscriptionTuning } from "../../../src/options.ts";
import type { Transcription } from "../../../src/ports/transcription.ts";
import { configuredTranscription } from "../../transcription/configured.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const WITHIN_MS = 20_000;
const FRAMES = 50;
const FRAME_MS = 20;

/** The transcription server, if one is configured, tried with a second of silence. */
export async function findTranscription(tuning: TranscriptionTuning | undefined): Promise<Finding[]> {
  if (tuning === undefined) return [];
  const name = `transcripts ${tuning.engine}`;
  const started = performance.now();
  const engine = configuredTranscription(tuning);
  try {
    const fault = await firstFault(engine);
    if (fault === undefined) return [works(name, `listened within ${Math.round(performance.now() - started)} ms`)];
    throw fault;
  } catch (error) {
    const fix = "check RINGPORT_TRANSCRIPTION_URL, _MODEL and _KEY, and the server there";
    // Calls can be placed without it.
    return [{ ...broken(name, `does not listen: ${reasonOf(error)}`, fix), essential: false }];
  } finally {
    await engine.close();
  }
}

async function firstFault(engine: Transcription): Promise<Error | undefined> {
  const [sampleRate = 16_000] = engine.capabilities.sampleRates;
  const options = { callId: "doctor", speaker: "callee", sampleRate } as const;
  const session = await engine.open(options, AbortSignal.timeout(WITHIN_MS));
  const silence = new Int16Array((sampleRate * FRAME_MS) / 1_000);
  for (let frame = 0; frame < FRAMES; frame++) session.push(silence, frame * FRAME_MS);
  session.commit();
  void session.close();
  for await (const event of session.events) if (event.type === "error") return event.error;
  return undefined;
}
