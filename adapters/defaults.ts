import { hash } from "node:crypto";
import { join, resolve } from "node:path";
import type { RemovalContext } from "../src/application/calls/deletion/remove-calls.ts";
import { ConfigurationError } from "../src/base/error.ts";
import { DEFAULT_TIMINGS } from "../src/domain/timings.ts";
import type { EmbeddedPorts, RingportOptions } from "../src/options.ts";
import { type AgentTool, toolsFault } from "../src/ports/agent-tool.ts";
import type { AudioAgent } from "../src/ports/audio-conversation.ts";
import type { AudioDecoder, Mp3Stream } from "../src/ports/audio-decoder.ts";
import type { BodyParser } from "../src/ports/body-parser.ts";
import type { Agent } from "../src/ports/conversation.ts";
import type { Recordings } from "../src/ports/recordings.ts";
import type { Speech } from "../src/ports/speech.ts";
import type { Storage } from "../src/ports/storage.ts";
import { realSystem } from "../src/ports/system.ts";
import type { Transcription } from "../src/ports/transcription.ts";
import { chosenNetworks, networksWithCallData } from "./defaults/all-networks.ts";
import { DEFAULT_DATA, dataFolder, modelFolder, RECORDINGS_FOLDER } from "./defaults/data-folder.ts";
import { embeddedStorage } from "./defaults/default-storage.ts";
import { docsAsset } from "./defaults/docs-asset.ts";
import { httpTools } from "./defaults/http-tools.ts";
import { scryptHasher } from "./defaults/scrypt-hasher.ts";
import { parseSecret, secretOf, storedSecret } from "./defaults/secret.ts";
import {
  closeOnce,
  type SharedPool,
  type SharedWorkers,
  sharedPool,
  sharedWorkers,
} from "./defaults/shared-workers.ts";
import type { SpeechProcesses } from "./local-models/speech-processes.ts";
import { HostLookup } from "./untrusted-hosts/host-lookup.ts";
import { httpSender } from "./untrusted-hosts/http-sender.ts";

const PREVIOUS = {
  name: "a previous secret (RINGPORT_PREVIOUS_SECRETS)",
  fix: "write each as it was in RINGPORT_SECRET or in secret.key",
};

/**
 * Fills in what the options leave out: embedded SQLite, the simulated network or SIP, the installed speech engines, a
 * decoder in workers, a transcription server if one is named, a key. Options are used as they are; only what is missing
 * is created on disk.
 * @throws {ConfigurationError} a secret, trunks, a database URL or a data folder cannot be used; the message names the
 * fix
 */
export async function embedded(options: RingportOptions): Promise<EmbeddedPorts> {
  // Validates everything before creating anything.
  const data = resolve(options.data ?? DEFAULT_DATA);
  const configuredSecret = options.secret === undefined ? await secretOf(data) : parseSecret(options.secret);
  const previousSecrets = (options.previousSecrets ?? []).map((hex) => parseSecret(hex, PREVIOUS));
  const hosts = new HostLookup({ system: options.system });
  const agentTools = await allTools(options, hosts);
  const secret = async (): Promise<Uint8Array> => {
    if (configuredSecret === undefined || options.telephony === undefined) await dataFolder(data);
    return configuredSecret ?? storedSecret(data);
  };
  const makeNetworks = options.telephony === undefined ? await chosenNetworks(options) : undefined;
  const workers = sharedWorkers();
  const storage = await embeddedStorage(options, workers);
  const neural = embeddedNeural(options, data);
  const speech = (await joinedSpeech(options)) ?? (await embeddedSpeech(options, workers, neural));
  const decoder = options.decoder ?? (await embeddedDecoder(workers));
  const telephony = asList(options.telephony) ?? (await makeNetworks?.(data, speech)) ?? [];
  const recordings = options.recordings ?? (await embeddedRecordings(data));
  const transcription = options.transcription ?? (await embeddedTranscription(options, neural));
  const agent = options.agent ?? (await embeddedAgent(options));
  const bodies = await embeddedBodies(workers);
  const webhookSender = httpSender({ allowPrivate: options.webhooks?.allowPrivate, hosts });
  const { asset = docsAsset, passwords = scryptHasher() } = options;
  return {
    storage,
    telephony,
    speech,
    decoder,
    transcription,
    agent,
    agentTools,
    recordings,
    webhookSender,
    passwords,
    bodies,
    secret,
    previousSecrets,
    asset,
    sha256,
  };
}

/** The speech engines named in the options. @throws {ConfigurationError} two of their voices have the same id */
async function joinedSpeech({ speech, system = realSystem }: RingportOptions): Promise<Speech | undefined> {
  const engines = asList(speech);
  if (engines === undefined) return undefined;
  const { assertDistinctVoices, joinSpeech } = await import("./speech/joined-speech.ts");
  await assertDistinctVoices(engines, system);
  return joinSpeech(engines);
}

async function embeddedSpeech(
  { embedded }: RingportOptions,
  workers: SharedWorkers,
  { folder, processes }: EmbeddedNeural,
): Promise<Speech> {
  const { embeddedSpeech: speechOf } = await import("./speech/all-engines.ts");
  const { pool, release } = await workers();
  const { naturalRemedy, neuralSpeech } = await import("./local-models/neural-speech.ts");
  const sharedProcesses = await processes();
  const neural = neuralSpeech({ folder, processes: sharedProcesses.pool, choice: embedded?.neural?.voices });
  const mp3Stream = async (): Promise<Mp3Stream> => (await import("./audio/mp3-stream.ts")).mp3Stream();
  const speech = speechOf({
    pool,
    neural,
    naturalRemedy: (voice) => naturalRemedy(sharedProcesses.pool, voice),
    http: embedded?.httpSpeech,
    mp3Stream,
  });
  return { ...speech, close: closeOnce(() => speech.close(), sharedProcesses.release, release) };
}

async function embeddedTranscription(
  { embedded }: RingportOptions,
  { folder, processes }: EmbeddedNeural,
): Promise<Transcription | undefined> {
  if (embedded?.transcription === undefined) return undefined;
  const { configuredTranscription } = await import("./transcription/configured-transcription.ts");
  const { model, language } = embedded.transcription;
  return configuredTranscription(embedded.transcription, async () => {
    const { neuralTranscription } = await import("./local-models/neural-transcription.ts");
    const { pool, release } = await processes();
    const transcription = neuralTranscription(pool, { folder, model, language });
    return { ...transcription, close: closeOnce(() => transcription.close(), release) };
  });
}

/** The model folder and the processes that run its models; no process starts before the first use. */
interface EmbeddedNeural {
  readonly folder: string;
  readonly processes: SharedPool<SpeechProcesses>;
}

function embeddedNeural({ embedded, log }: RingportOptions, data: string): EmbeddedNeural {
  const { models, processes, memoryMb } = embedded?.neural ?? {};
  const make = async (): Promise<SpeechProcesses> => {
    const { SpeechProcesses } = await import("./local-models/speech-processes.ts");
    return new SpeechProcesses({ size: processes, memoryMb, log });
  };
  return { folder: modelFolder(data, models), processes: sharedPool(make) };
}

async function embeddedAgent({ embedded }: RingportOptions): Promise<Agent | AudioAgent> {
  const { configuredAgent } = await import("./agent/configured-agent.ts");
  return configuredAgent(embedded?.agent);
}

/**
 * The program's tools, then those from the configuration.
 * @throws {ConfigurationError} a tool cannot be used; the message names the fix
 */
async function allTools(
  { agentTools = [], embedded }: RingportOptions,
  hosts: HostLookup,
): Promise<readonly AgentTool[]> {
  const tools = [...agentTools, ...(await httpTools(embedded?.httpTools, hosts))];
  const fault = toolsFault(tools);
  if (fault !== undefined) throw new ConfigurationError(fault);
  return tools;
}

async function embeddedDecoder(workers: SharedWorkers): Promise<AudioDecoder> {
  const { workerDecoder } = await import("./audio/worker-decoder.ts");
  const { pool, release } = await workers();
  const decoder = workerDecoder(pool);
  return { ...decoder, close: closeOnce(() => decoder.close(), release) };
}

async function embeddedBodies(workers: SharedWorkers): Promise<BodyParser> {
  const { workerParser } = await import("./body-parsing/worker-parser.ts");
  const { pool, release } = await workers();
  return { ...workerParser(pool), close: closeOnce(release) };
}

async function embeddedRecordings(data: string): Promise<Recordings> {
  const { wavRecordings } = await import("./recordings/wav-recordings.ts");
  return wavRecordings({ folder: join(data, RECORDINGS_FOLDER), makeParent: () => dataFolder(data) });
}

/** Everything that keeps call data in the data folder; a server may be running. The caller owns the storage. */
export async function embeddedRemovalContext(
  options: RingportOptions,
  storage: Storage,
): Promise<Omit<RemovalContext, "purgeClock">> {
  const data = resolve(options.data ?? DEFAULT_DATA);
  const telephony = await networksWithCallData(data);
  const recordings = await embeddedRecordings(data);
  return { storage, recordings, telephony, system: realSystem, timings: DEFAULT_TIMINGS };
}

const sha256 = (text: string): string => hash("sha256", text);

function asList<T>(option: T | readonly T[] | undefined): readonly T[] | undefined {
  if (option === undefined) return undefined;
  return Array.isArray(option) ? option : [option as T];
}
