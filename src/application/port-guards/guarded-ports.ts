import type { Timings } from "../../domain/timings.ts";
import type { AgentTool } from "../../ports/agent-tool.ts";
import type { AudioAgent } from "../../ports/audio-conversation.ts";
import type { AudioDecoder } from "../../ports/audio-decoder.ts";
import type { Agent } from "../../ports/conversation.ts";
import type { Recordings, RecordingWriter, StoredRecording } from "../../ports/recordings.ts";
import type { Speech } from "../../ports/speech.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { Transcription } from "../../ports/transcription.ts";
import type { VoiceActivity } from "../../ports/voice-activity.ts";
import type { WebhookSender } from "../../ports/webhook-sender.ts";
import { acceptCount, acceptOnly, acceptOptional, acceptPort, acceptVoid } from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { guardedAgent, guardedTools } from "./guarded-agent.ts";
import { guardedDecoder, guardedSpeech, guardedTranscription, guardedVoiceActivity } from "./guarded-engines.ts";
import { guardedTelephony } from "./guarded-telephony.ts";
import { guardedWebhookSender } from "./guarded-web.ts";
import { mayThrow, reads, resolves, settles, yields } from "./rules.ts";

/** The ports of live calls, as adapters and embedding programs provide them. */
export interface CallPorts {
  readonly telephony: readonly Telephony[];
  readonly speech: Speech;
  readonly decoder: AudioDecoder;
  readonly transcription: Transcription | undefined;
  readonly agent: Agent | AudioAgent | undefined;
  readonly agentTools: readonly AgentTool[];
  readonly recordings: Recordings;
  /** Default: a detector of energy above the noise. */
  readonly voiceActivity: VoiceActivity | undefined;
  readonly webhookSender: WebhookSender;
}

/** The guarded ports, as the core uses them. */
export interface GuardedPorts {
  /** Networks by provider name; the first network is the default. */
  readonly telephony: ReadonlyMap<string, Guarded<Telephony>>;
  readonly speech: Guarded<Speech>;
  readonly decoder: Guarded<AudioDecoder>;
  /** Transcribes live streams; undefined if streams are not transcribed. */
  readonly transcription: Guarded<Transcription> | undefined;
  /** Conducts agent calls; undefined if they are to fail. */
  readonly agent: Guarded<Agent> | Guarded<AudioAgent> | undefined;
  /** Tools that the model of an agent may use on a call. */
  readonly agentTools: readonly Guarded<AgentTool>[];
  readonly recordings: Guarded<Recordings>;
  /** Detects speech, on every call. */
  readonly voiceActivity: Guarded<VoiceActivity>;
  /** Delivers webhooks. */
  readonly webhookSender: Guarded<WebhookSender>;
}

/** Guards the ports of live calls: once, before the core is put together. */
export function guardedPorts(ports: CallPorts, parts: GuardParts, timings: Timings): GuardedPorts {
  const { transcription, agent } = ports;
  return {
    telephony: new Map(ports.telephony.map((network) => [network.name, guardedTelephony(network, parts)])),
    speech: guardedSpeech(ports.speech, parts, timings),
    decoder: guardedDecoder(ports.decoder, parts),
    transcription: transcription && guardedTranscription(transcription, parts),
    agent: agent && guardedAgent(agent, parts),
    agentTools: guardedTools(ports.agentTools, parts),
    recordings: guardedRecordings(ports.recordings, parts),
    voiceActivity: guardedVoiceActivity(ports.voiceActivity, parts),
    webhookSender: guardedWebhookSender(ports.webhookSender, parts),
  };
}

/** Maximum time for a store to complete, find or delete a recording, or to read the next piece of it, ms. */
const STORE_MS = 30_000;

const WRITER: Rules<RecordingWriter> = {
  recordedMs: reads(acceptCount, 0),
  write: mayThrow(acceptVoid),
  finish: settles(STORE_MS),
};

const STORED_RECORDING: Rules<StoredRecording> = {
  size: reads(acceptCount, 0),
  durationMs: reads(acceptCount, 0),
  bytes: yields(
    acceptOnly("a Uint8Array", (value) => value instanceof Uint8Array),
    STORE_MS,
  ),
};

const RECORDINGS: Rules<Recordings> = {
  record: mayThrow(acceptPort(WRITER, "recording")),
  read: resolves(STORE_MS, { accept: acceptOptional(acceptPort(STORED_RECORDING, "recording")) }),
  forget: resolves(STORE_MS),
  close: resolves({ boundedBy: "src/ringport.ts" }),
};

/** The store of recordings of an embedding program. */
const guardedRecordings = (recordings: Recordings, parts: GuardParts): Guarded<Recordings> =>
  guarded(recordings, RECORDINGS, "recordings", parts);
