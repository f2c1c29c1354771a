// Preloaded, so that they start without a wait outside of the manual clock.
import "../../src/application/call-audio/agents/agent-call.ts";
import "../../src/application/calls/live/call-quality.ts";
import { type Application, createApplication } from "../../src/application/application.ts";
import { DecodedFiles } from "../../src/application/call-audio/call-types/decoded-files.ts";
import { RecordingQuota } from "../../src/application/call-audio/recording-quota.ts";
import { FairTurns } from "../../src/application/call-audio/speech/fair-turns.ts";
import { SpeechScheduler } from "../../src/application/call-audio/speech/speech-scheduler.ts";
import { Streams } from "../../src/application/call-audio/streams/streams.ts";
import { PurgeClock } from "../../src/application/calls/deletion/purge-clock.ts";
import { ProcessPauses } from "../../src/application/calls/dialling/process-pauses.ts";
import { EventLog } from "../../src/application/calls/event-log.ts";
import { Journals } from "../../src/application/calls/live/journals.ts";
import { LateResults } from "../../src/application/calls/live/late-results.ts";
import type { Context } from "../../src/application/context.ts";
import { Counters } from "../../src/application/counters.ts";
import { Vault } from "../../src/application/encryption/vault.ts";
import { RunningKeys } from "../../src/application/idempotency/running-keys.ts";
import { guardedPorts } from "../../src/application/port-guards/guarded-ports.ts";
import { ServerLease } from "../../src/application/server-lease.ts";
import type { Creation } from "../../src/application/use-cases.ts";
import { ProviderAccess } from "../../src/application/user-limits/provider-access.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { idSource } from "../../src/base/ids.ts";
import type { Principal } from "../../src/domain/access/principal.ts";
import type { AgentInput } from "../../src/domain/agents/agent-input.ts";
import type { Call } from "../../src/domain/calls/call.ts";
import type { CallLimits } from "../../src/domain/calls/call-limits.ts";
import type { Speaker } from "../../src/domain/calls/transcript.ts";
import { type NumberedEvent, withoutPosition } from "../../src/domain/events.ts";
import { inputSchemas } from "../../src/domain/input/inputs.ts";
import type { Instance } from "../../src/domain/instances/instance.ts";
import { type QueuePolicy, SINGLE_POLICY } from "../../src/domain/instances/queue-capacity.ts";
import { DEFAULT_LIMITS, type Limits } from "../../src/domain/limits.ts";
import { DEFAULT_TIMINGS, type Timings } from "../../src/domain/timings.ts";
import { eventView } from "../../src/http/views/event-view.ts";
import type { AgentTool } from "../../src/ports/agent-tool.ts";
import type { AudioAgent } from "../../src/ports/audio-conversation.ts";
import { type AudioDecoder, AudioUnsupported } from "../../src/ports/audio-decoder.ts";
import type { Agent } from "../../src/ports/conversation.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Recordings } from "../../src/ports/recordings.ts";
import { type Speech, type Voice, VoiceUnavailable } from "../../src/ports/speech.ts";
import { type Storage, StorageUnavailable } from "../../src/ports/storage.ts";
import type { Telephony, TelephonyCapabilities } from "../../src/ports/telephony.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import type { VoiceActivity } from "../../src/ports/voice-activity.ts";
import type { WebhookSender } from "../../src/ports/webhook-sender.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { type ScriptedLeg, type ScriptedLine, ScriptedTelephony } from "../../src/testing/scripted-telephony.ts";
import { FaultyStorage } from "./faulty-storage.ts";
import { MemoryRecordings } from "./memory-recordings.ts";
import { memoryStorage } from "./memory-storage.ts";
import { ScriptedEndpoints } from "./scripted-endpoints.ts";

export const ALICE: Principal = { userId: "usr_alice" };
export const BOB: Principal = { userId: "usr_bob" };
export const NUMBER = "+12025550100";

/** Length of the tone that the speech engine generates for each character, ms. */
export const MS_PER_CHARACTER = 50;
const VOICE: Voice = { id: "en-US-1", language: "en-US", engine: "tone", name: "tone", quality: "robotic" };

/** Speech that generates tones, at the leg's own rate. */
export class ToneSpeech implements Speech {
  /** The text is spoken only after this has resolved. */
  gate: Promise<unknown> | undefined;
  fault: Error | undefined;
  /** The second half of the text is spoken only after this has resolved. */
  pause: Promise<unknown> | undefined;
  /** True if the engine hangs until the signal is aborted. */
  isSilent = false;
  isClosed = false;
  /** Scripts that the voice speaks; everything by default. */
  scripts: readonly string[] | undefined;
  /** Texts that the engine has received. */
  readonly receivedTexts: string[] = [];
  /** Number of warm-ups. */
  warmUps = 0;

  async warmUp(): Promise<void> {
    this.warmUps++;
  }

  async voices(): Promise<readonly Voice[]> {
    return [this.#voice];
  }

  async voice(voiceId: string): Promise<Voice> {
    if (voiceId !== VOICE.id) throw new VoiceUnavailable(`the voice "${voiceId}" is not available, only ${VOICE.id}`);
    return this.#voice;
  }

  get #voice(): Voice {
    return this.scripts ? { ...VOICE, scripts: this.scripts } : VOICE;
  }

  async *speak(text: string, _voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    this.receivedTexts.push(text);
    await this.gate;
    if (this.isSilent) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    if (this.fault) throw this.fault;
    const samples = tone(440, text.length * MS_PER_CHARACTER, 8_000, 8_000);
    const half = this.pause ? samples.length / 2 : samples.length;
    yield { sampleRate: 8_000, samples: samples.subarray(0, half) };
    if (!this.pause) return;
    await this.pause;
    yield { sampleRate: 8_000, samples: samples.subarray(half) };
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** Files are the word TONE and a number of seconds. */
export const decoder: AudioDecoder = {
  async inspect(file) {
    const truncated = file[5] === "!".charCodeAt(0);
    const headerLength = truncated ? 6 : 5;
    const ignoredBytes =
      file.length > headerLength ? [{ reason: "unknown_bytes", bytes: file.length - headerLength } as const] : [];
    const bytes = { header: 4, played: headerLength - 4, ignored: ignoredBytes };
    return { format: "wav", durationMs: fileMs(file), sampleRate: 8_000, channels: 1, truncated, bytes };
  },
  async decode(file, sampleRate) {
    return tone(880, fileMs(file), sampleRate, 8_000);
  },
  async close() {},
};

/** Base64 of a file for the decoder; a truncated one declares too much, and unknown bytes are ignored. */
export function audioFile(
  seconds: number,
  { truncated = false, unknownBytes = 0 }: { truncated?: boolean; unknownBytes?: number } = {},
): string {
  return btoa(`TONE${String.fromCharCode(seconds)}${truncated ? "!" : ""}${"?".repeat(unknownBytes)}`);
}

function fileMs(file: Uint8Array): number {
  if (new TextDecoder().decode(file.subarray(0, 4)) !== "TONE") throw new AudioUnsupported("is neither MP3 nor WAV");
  return (file[4] ?? 0) * 1_000;
}

// Made once, because they keep no state.
const SCHEMAS = inputSchemas(DEFAULT_LIMITS);
const STRICT_SCHEMAS = inputSchemas(DEFAULT_LIMITS, { strict: true });

export interface WorldOptions {
  /** Default: a clock that continues one second after the earlier process's. */
  readonly system?: ManualSystem;
  /** Default: a new network. */
  readonly network?: ScriptedTelephony;
  readonly policy?: QueuePolicy;
  readonly callLimits?: CallLimits;
  readonly timings?: Partial<Timings>;
  readonly limits?: Partial<Limits>;
  readonly capabilities?: Partial<TelephonyCapabilities>;
  /** True if the network has codes that are typed on a phone. */
  readonly pairingCodes?: boolean;
  /** Users who may use the network; default: all. */
  readonly users?: Telephony["users"];
  /** Additional networks. */
  readonly otherNetworks?: readonly ScriptedTelephony[];
  readonly retentionDays?: number | undefined;
  readonly recordingRetentionDays?: number | undefined;
  /** True if live streams are enabled. */
  readonly streamPreview?: boolean;
  /** Transcribes the calls; none by default. */
  readonly transcription?: Transcription;
  readonly transcriptSpeakers?: readonly Speaker[];
  /** Conducts agent calls; none by default. */
  readonly agent?: Agent | AudioAgent;
  /** Tools of its model. */
  readonly agentTools?: readonly AgentTool[];
  /** Rate of every leg, Hz. Default: 8000. */
  readonly sampleRate?: number;
  /** Length of every leg's frames, ms. Default: 20. */
  readonly frameMs?: number;
  readonly requireInboundAudio?: boolean;
  readonly oneWayCalls?: "refuse" | "warn";
  readonly voiceActivity?: VoiceActivity;
  readonly webhooksAllowPrivate?: boolean;
  /** Replaces {@link World.speech}. */
  readonly speech?: (system: ManualSystem) => Speech;
  /** Replaces {@link decoder}. */
  readonly decoder?: AudioDecoder;
  /** Replaces {@link World.recordings}. */
  readonly recordings?: Recordings;
  /** Replaces {@link World.endpoints}. */
  readonly webhookSender?: WebhookSender;
  /** State left by an earlier process. */
  readonly before?: World;
  /** Default: a database in memory. */
  readonly storage?: Storage;
}

/** One process: the application on a database in memory, a scripted network and a manual clock. */
export class World {
  readonly system: ManualSystem;
  readonly network: ScriptedTelephony;
  readonly storage: FaultyStorage;
  readonly speech: ToneSpeech = new ToneSpeech();
  readonly recordings: MemoryRecordings;
  /** Receiver of webhooks. */
  readonly endpoints: ScriptedEndpoints = new ScriptedEndpoints();
  readonly context: Context;
  readonly app: Application;
  /** Log messages that would alert an operator. */
  readonly errors: string[] = [];
  /** Log messages with their fields. */
  readonly warnings: Record<string, unknown>[] = [];
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    const { before } = options;
    this.#options = options;
    this.system =
      options.system ??
      new ManualSystem(before ? { now: before.system.now() + 1_000, seed: before.system.now() & 0xffff } : {});
    this.recordings = before?.recordings ?? new MemoryRecordings();
    this.storage = before?.storage ?? new FaultyStorage(options.storage ?? memoryStorage());
    this.network =
      options.network ??
      new ScriptedTelephony(this.system, {
        ...(options.capabilities ? { capabilities: options.capabilities } : {}),
        ...(options.pairingCodes ? { pairingCodes: true } : {}),
        ...(options.sampleRate ? { sampleRate: options.sampleRate } : {}),
        ...(options.frameMs ? { frameMs: options.frameMs } : {}),
        users: options.users,
      });
    for (const [instanceId, phone] of before?.network.devices ?? []) this.network.devices.set(instanceId, phone);
    const log: Logger = {
      debug() {},
      info() {},
      warn: (fields, message) => void this.warnings.push({ ...fields, message }),
      error: (fields, message) => void this.errors.push(`${message}: ${String(fields.err ?? "")}`),
    };
    const ids = idSource(this.system.now.bind(this.system), (bytes) => this.system.random(bytes));
    const timings = { ...DEFAULT_TIMINGS, ...options.timings };
    const guards = guardedPorts(
      {
        telephony: [this.network, ...(options.otherNetworks ?? [])],
        speech: options.speech?.(this.system) ?? this.speech,
        decoder: options.decoder ?? decoder,
        transcription: options.transcription,
        agent: options.agent,
        agentTools: options.agentTools ?? [],
        recordings: options.recordings ?? this.recordings,
        voiceActivity: options.voiceActivity,
        webhookSender: options.webhookSender ?? this.endpoints,
      },
      { system: this.system, log },
      timings,
    );
    this.context = {
      system: this.system,
      ids,
      nodeId: ids("node"),
      storage: this.storage,
      ...guards,
      speechScheduler: new SpeechScheduler(guards.speech, this.system),
      decodedFiles: new DecodedFiles(),
      decoderTurns: new FairTurns(this.system, 2),
      agentVoiceId: undefined,
      transcriptSpeakers: options.transcriptSpeakers ?? ["callee"],
      log,
      events: new EventLog(this.system, ids, log),
      counters: new Counters(),
      vault: new Vault(new Uint8Array(32).fill(7)),
      timings,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      callLimits: options.callLimits ?? {},
      policy: options.policy ?? SINGLE_POLICY,
      schemas: SCHEMAS,
      strictSchemas: STRICT_SCHEMAS,
      streamPreview: options.streamPreview ?? false,
      journals: new Journals(),
      lateResults: new LateResults(),
      processPauses: new ProcessPauses({ system: this.system, timings, ids }),
      lease: new ServerLease({ system: this.system, storage: this.storage, timings, log }),
      streams: new Streams(),
      recordingQuota: new RecordingQuota(),
      runningKeys: new RunningKeys(),
      access: new ProviderAccess(guards.telephony, this.storage.accounts),
      shutdownSignal: new AbortController().signal,
      purgeClock: new PurgeClock(this.system, this.storage, log),
      requireInboundAudio: options.requireInboundAudio ?? false,
      oneWayCalls: options.oneWayCalls ?? "warn",
      publicUrl: () => "http://localhost:8080",
      eventJson: (event) => JSON.stringify(eventView(event)),
      webhooksAllowPrivate: options.webhooksAllowPrivate ?? false,
    };
    this.app = createApplication(this.context, {
      calls: options.retentionDays,
      recordings: options.recordingRetentionDays,
    });
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    await world.storage.open({ exclusive: true });
    await world.app.start();
    await world.system.settle();
    return world;
  }

  /** Kills the process, and starts another one on its stored data. */
  async crashAndRestart(options: Partial<WorldOptions> = {}): Promise<World> {
    return World.start({ ...this.#options, ...options, before: this });
  }

  /** An instance as `POST /v1/instances` creates it. */
  async newInstance(principal: Principal = ALICE, name = "Reception"): Promise<Instance> {
    return this.app.instances.create(principal, { name });
  }

  /** An instance whose number is linked and whose line is online. */
  async activeInstance(principal: Principal = ALICE): Promise<Instance> {
    const instance = await this.newInstance(principal);
    await this.app.instances.configure(principal, instance.id);
    await this.line(instance).scan();
    await this.system.settle();
    return instance;
  }

  /** Creates a call that speaks. */
  async call(instance: Instance, text?: string, principal?: Principal): Promise<Call & Creation> {
    const created = await this.create(instance, text, principal);
    await this.system.settle();
    return created;
  }

  /** Like {@link call}, without waiting for its consequences. */
  create(instance: Instance, text = "Your table is ready", principal: Principal = ALICE): Promise<Call & Creation> {
    return this.app.calls.create(principal, {
      instanceId: instance.id,
      type: "FIXED_TTS",
      target: { phoneNumber: NUMBER },
      tts: { text, voiceId: "en-US-1" },
    });
  }

  /** Creates a call that speaks, and lets the callee answer it. */
  async answeredCall(instance: Instance, text?: string): Promise<{ call: Call; leg: ScriptedLeg }> {
    return this.#answered(await this.call(instance, text));
  }

  /** Creates an agent's call on a new instance. */
  async agentCall(agent: AgentInput, principal: Principal = ALICE): Promise<Call> {
    const { id: instanceId } = await this.activeInstance();
    const target = { phoneNumber: NUMBER };
    const call = await this.app.calls.create(principal, { instanceId, type: "DYNAMIC_AGENT", target, agent });
    await this.system.settle();
    await this.system.settle(); // the agent is opened before the call is dialled
    return call;
  }

  /** Like {@link agentCall}, and lets the callee answer. */
  async answeredAgentCall(agent: AgentInput, principal?: Principal): Promise<{ call: Call; leg: ScriptedLeg }> {
    return this.#answered(await this.agentCall(agent, principal));
  }

  async #answered(call: Call): Promise<{ call: Call; leg: ScriptedLeg }> {
    const leg = this.leg(call);
    leg.placed();
    leg.answer();
    await this.system.settle();
    return { call, leg };
  }

  line(instance: Instance): ScriptedLine {
    return this.network.line(instance.id);
  }

  /** The latest leg of a call, or of all calls. */
  leg(call?: Call): ScriptedLeg {
    return this.network.leg(call?.id);
  }

  /** Lets the next claim of a call wait until the returned function is called. */
  holdClaim(): () => void {
    let release = () => {};
    this.storage.before = (operation) => {
      if (operation !== "calls.claimNext") return;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    return () => {
      this.storage.before = () => {};
      release();
    };
  }

  /**
   * Lets the n-th of these operations succeed, but loses its result, as a broken connection does. Returns true once that has happened.
   */
  loseResult(operation: string, n = 1): () => boolean {
    let remaining = n;
    this.storage.after = (completedOperation) => {
      if (completedOperation === operation && --remaining === 0)
        throw new StorageUnavailable("the connection broke before the response arrived");
    };
    return () => remaining <= 0;
  }

  /** The stored call. */
  async storedCall(call: Call): Promise<Call> {
    const storedCall = await this.storage.calls.get(call.id);
    if (!storedCall) throw new Error(`${call.id} is not stored`);
    return storedCall;
  }

  async timeline(call: Call): Promise<NumberedEvent[]> {
    return (await this.storage.events.ofCall(call.id, {})).map(withoutPosition);
  }

  /** The types in a call's timeline, in order. */
  async eventTypes(call: Call): Promise<string[]> {
    return (await this.timeline(call)).map((event) => event.type);
  }

  /** Stops, advancing time until everything has ended. */
  async stop(drainMs = 0): Promise<void> {
    let isStopped = false;
    const stopPromise = this.app.stop(drainMs).then(() => {
      isStopped = true;
    });
    for (let tries = 0; tries < 100 && !isStopped; tries++) await this.system.advance(1_000);
    await stopPromise;
    await this.storage.close();
  }
}
