import type { StreamEventName } from "../application/call-audio/streams/stream-client.ts";
import type { CallStatus, CallType } from "../domain/call.ts";
import type { EventType } from "../domain/events.ts";
import type { CompletedReason, FailedReason, HeardEvidence } from "../domain/outcome.ts";
import type { Speaker } from "../domain/transcript.ts";

// The types of all answers, written out so that they can be read and published as they are. The schemas in schemas.ts
// say the same to programs; a type test holds the two together. Timestamps are RFC 3339, UTC, with milliseconds.

/** An active call, as an instance shows it. */
export interface CallSummary {
  id: string;
  type: CallType;
  status: CallStatus;
  /** E.164. */
  target_phone: string;
  created_at: string;
}

/** What the creation of a call answers. */
export interface CreatedCall extends CallSummary {
  instance_id: string;
}

/** The caller as the callee sees it; the network fills in what is left out. */
export interface CallerId {
  /** E.164. */
  phoneNumber?: string | undefined;
  displayName?: string | undefined;
  /** Number and name are withheld from the callee. */
  withheld?: boolean | undefined;
}

/** A call. */
export interface Call extends CreatedCall {
  /** Only of a call whose request or instance names a caller. */
  from?: CallerId | undefined;
  /** When the call connected; null until then. */
  started_at: string | null;
  /** When the call ended; null until then. */
  ended_at: string | null;
  /** With expand=outcome; null until the call is final. */
  outcome?: Outcome | null | undefined;
  /** With expand=transcript; null until there is one. */
  transcript?: TranscriptLine[] | null | undefined;
  /** With expand=media: what the callee is to hear, and how the audio went over the network. */
  media?: AudioMedia | SpeechMedia | LiveMedia | null | undefined;
}

/** Something that was said on a call. */
export interface TranscriptLine {
  /** The caller is whoever the client of the stream plays to the callee. */
  speaker: Speaker;
  text: string;
  /** When it was said. */
  timestamp: string;
  /** From the answer of the call. */
  start_ms: number;
  end_ms: number;
  /** How sure the engine is, 0 to 1; null where it does not tell. */
  confidence: number | null;
}

/** How a call turned out. */
export interface Outcome {
  reason: CompletedReason | FailedReason;
  /** The raw cause: SIP status, Q.850 cause, network code. */
  detail: string | null;
  answered_by: "human" | "machine" | "unknown" | null;
  /** How much of the message was played to the callee, ms. */
  heard_ms: number;
  /** `heard_ms` divided by the length of the message, 0 to 1; null for a call without a fixed message, and if it is not known. */
  heard_ratio: number | null;
  /** What shows that the callee's side received our audio: audio of its own, its RTCP alone, or nothing; null for calls of earlier versions. */
  heard_evidence: HeardEvidence | null;
  /** From the answer to the end, ms; 0 when nobody answered. */
  duration_ms: number;
}

/** An audio file to be played. */
export interface AudioMedia {
  format: "wav" | "mp3";
  duration_ms: number;
  /** The file claimed more audio than it holds. */
  truncated: boolean;
  /** Null until the call is over, and where the network does not count. */
  stream: StreamStatistics | null;
  /** Only of a call that is to be recorded: null until it is over, and where nothing is kept. */
  recording?: Recording | null | undefined;
}

/** A text to be spoken. */
export interface SpeechMedia {
  voice_id: string;
  characters: number;
  /** Null until the call is over, and where the network does not count. */
  stream: StreamStatistics | null;
  /** Only of a call that is to be recorded: null until it is over, and where nothing is kept. */
  recording?: Recording | null | undefined;
}

/** A call without a fixed message that is to be recorded, or whose audio has been counted; null for others. */
export interface LiveMedia {
  /** Null until the call is over, and where the network does not count. */
  stream: StreamStatistics | null;
  /** Only of a call that is to be recorded: null until it is over, and where nothing is kept. */
  recording?: Recording | null | undefined;
}

/** The recording of a call. */
export interface Recording {
  duration_ms: number;
  /** Where it can be heard: a WAV file, for the same token. */
  url: string;
}

/** How the audio of a call went over the network, as counted on our side. */
export interface StreamStatistics {
  codec: string;
  packets_sent: number;
  /** 0 on an answered call: the audio was one-way. */
  packets_received: number;
  /** Packets of the far side that never came, or too late to be played. */
  packets_lost: number;
  packets_reordered: number;
  packets_duplicated: number;
  /** Packets that were broken: wrong keys, no RTP. */
  packets_invalid: number;
  /** RTP packets of strangers; null where the network does not count them. */
  packets_injected: number | null;
  /** Interarrival jitter (RFC 3550). */
  jitter_ms: number;
  /** Null where the far side does not tell. */
  round_trip_ms: number | null;
  /** Share of our packets that the far side lost, 0 to 1; null where it does not tell. */
  remote_loss: number | null;
  /** Estimated mean opinion score, 1 to 4.5; null before anything came. */
  mos: number | null;
  /** How long the far side held us. */
  held_ms: number;
}

/** An instance, as lists and creations answer it. */
export interface Instance {
  id: string;
  name: string;
  status: "CREATED" | "CONFIGURED" | "ACTIVE";
  metadata: { [key: string]: unknown };
  /** Only of an instance with a caller of its own. */
  callerId?: CallerId | undefined;
  created_at: string;
  updated_at: string;
}

/** An instance with its active calls. */
export interface InstanceDetails extends Instance {
  /** The active calls, oldest first. */
  callQueue: CallSummary[];
  /** With expand=connection. */
  connection?: Connection | undefined;
}

/** How the line of an instance is. */
export interface Connection {
  state: "unlinked" | "linking" | "connecting" | "online" | "reconnecting" | "offline";
  /** E.164; null while no number is linked. */
  phone: string | null;
  /** When a probe last found the line online. */
  last_seen_at: string | null;
  /** Why the line is not online; null while it is. */
  reason: string | null;
  /** The telephony that carries the instance. */
  provider: string;
}

/** The QR code that links a phone number. */
export interface LinkingCode {
  instanceId: string;
  /** Base64 of a PNG image, without a data: prefix. */
  qrCodeBase64: string;
  message: string;
}

/** One line of a timeline. */
export interface Event {
  id: string;
  type: EventType;
  timestamp: string;
  /** Null for an event of an instance. */
  call_id: string | null;
  instance_id: string;
  data: { [key: string]: string | number | boolean | null };
}

/** A voice that can speak. */
export interface Voice {
  id: string;
  /** BCP 47. */
  language: string;
  engine: string;
  name: string;
  quality: "robotic" | "natural";
  /** Where the voice can be heard: a WAV file, for the same token. */
  sample_url: string;
}

/** A ticket for the stream of one call. */
export interface StreamTicket {
  /** Good once, for `?ticket=`. */
  ticket: string;
  expires_at: string;
  /** Where to connect: the address of the stream with the ticket in it. */
  url: string;
}

/** What a stream tells about what was said. */
export interface StreamTranscript {
  type: "transcript";
  text: string;
  /** When it was said. */
  timestamp: string;
  /** False: the text may still change. */
  final: boolean;
  speaker: "callee" | "caller";
}

/** What a stream tells about the call. */
export interface StreamCallEvent {
  type: "call_event";
  event: StreamEventName;
  timestamp: string;
  /** With `dtmf`: the key that the callee pressed. */
  digit?: string | undefined;
  /** With `mark`: its name. */
  name?: string | undefined;
  /** With `cleared`: how much of all the audio was heard, ms. */
  heard_ms?: number | undefined;
  /** With `buffer_high` and `buffer_low`: how much waits to be played, ms. */
  queued_ms?: number | undefined;
  /** With `audio_dropped`: how much of the callee's audio is missing here, ms. */
  dropped_ms?: number | undefined;
  /** With `beep`: its tone, Hz. */
  hz?: number | undefined;
  /** With `beep`: when it began, ms after the answer. */
  at_ms?: number | undefined;
  /** With `completed` and `failed`: why. With `transcripts_unavailable`: `no_engine` or `engine_failed`. */
  reason?: string | null | undefined;
  /** With `engine_failed`: only a part is missing; false: nothing more comes. */
  recoverable?: boolean | undefined;
}

/** How far a stream is with what its client has sent. */
export interface StreamProgress {
  type: "progress";
  /** Messages that were taken from clients of this call so far, over all connections; `progress` itself does not count. */
  messages: number;
  /** Audio that waits to be played, ms. */
  queued_ms: number;
}

/** What a stream answers to a text message that it does not understand. */
export interface StreamError {
  type: "error";
  code: string;
  detail: string;
}

/** One thing that is wrong with a request. */
export interface Fault {
  /** JSON Pointer into the body; "" for the body itself, and for what is not in it. */
  pointer: string;
  /** The query parameter that is wrong. */
  parameter?: string | undefined;
  code: string;
  detail: string;
}

/** An error, as RFC 9457 has it. */
export interface Problem {
  /** Leads to the page that explains the code. */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The path of the request. */
  instance: string;
  /** Stable; programs decide by it. */
  code: string;
  request_id: string;
  /** With 400: every fault. */
  errors?: Fault[] | undefined;
  /** With 413: most bytes of a body. With `daily_call_limit`: calls in 24 hours. */
  limit?: number | undefined;
}

/** Whether the server is well. */
export interface State {
  status: "ok" | "ready";
}

/** Every named answer. */
export interface Answers {
  CallSummary: CallSummary;
  CreatedCall: CreatedCall;
  CallerId: CallerId;
  TranscriptLine: TranscriptLine;
  Outcome: Outcome;
  StreamStatistics: StreamStatistics;
  Recording: Recording;
  Call: Call;
  CallList: Call[];
  Instance: Instance;
  InstanceList: Instance[];
  Connection: Connection;
  InstanceDetails: InstanceDetails;
  LinkingCode: LinkingCode;
  Event: Event;
  EventList: Event[];
  Voice: Voice;
  VoiceList: Voice[];
  StreamTicket: StreamTicket;
  StreamTranscript: StreamTranscript;
  StreamCallEvent: StreamCallEvent;
  StreamProgress: StreamProgress;
  StreamError: StreamError;
  Fault: Fault;
  Problem: Problem;
  State: State;
}

/** The value that a named answer carries. */
export type View<Name extends keyof Answers> = Answers[Name];
