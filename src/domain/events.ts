import type { AnsweredBy, AnswerReason, GreetingEnd } from "./answering/answering-machine.ts";
import type { TargetStatus } from "./batches/batch.ts";
import type { CallType } from "./calls/call.ts";
import type { IgnoredReason } from "./calls/file-bytes.ts";
import type { OutcomeData } from "./calls/outcome.ts";
import type { Metadata } from "./instances/instance.ts";
import type { LineTone } from "./tones/line-tones.ts";

/** Data of each event type: JSON, snake_case keys, durations in ms. */
export interface EventData {
  readonly queued: CallReference & { readonly type: CallType };
  /** `attempt`: from 1; `reason`: why the trunks before it did not accept the call. */
  readonly route: SipReference & { readonly trunk: string; readonly attempt: number; readonly reason: string | null };
  /** The network's address of the called number, such as another form of it; the call keeps its own number. */
  readonly address_resolved: { readonly resolved_address: string };
  readonly ringing: CallReference & SipReference;
  readonly alerting: NoData;
  readonly early_media: NoData;
  readonly answered: CallReference & SipReference;
  readonly audio_truncated: { readonly played_ms: number };
  /**
   * A voice does not speak this passage; `text` is cut after 200 characters, `characters` counts letters, digits and
   * emoji.
   */
  readonly text_skipped: { readonly text: string; readonly characters: number };
  /** Bytes of the audio file or the stream's client that are not heard and are neither header nor tag. */
  readonly audio_ignored: { readonly bytes: number; readonly reason: IgnoredReason };
  readonly message_ready: { readonly message_ms: number };
  /** `at_ms`: when the silence began, after the answer. */
  readonly message_delayed: { readonly at_ms: number; readonly silence_ms: number };
  /** `agent`: the engine that conducts the call, such as `scripted`. */
  readonly agent_started: { readonly agent: string };
  /** The agent's model has used a tool; `ms`: its duration; `fault`: the reason for a missing result, or null. */
  readonly tool_used: { readonly tool: string; readonly ms: number; readonly fault: ToolFault | null };
  /** `to`: the other number. `detail`: the network's words. */
  readonly transferred: { readonly to: string; readonly detail: string | null };
  /** The call continues. */
  readonly transfer_failed: { readonly to: string; readonly reason: string };
  /** The result for the call's schema has been stored; `error`: the reason for a missing result. */
  readonly result_ready: { readonly error: string | null };
  /** `at_ms`: after the answer, if the key was found in the audio. */
  readonly dtmf: { readonly digit: string; readonly at_ms?: number | undefined };
  /** After the answer. */
  readonly callee_speech: { readonly start_ms: number; readonly end_ms: number };
  /** `at_ms`: when the tone began, after the answer. */
  readonly beep: { readonly hz: number; readonly at_ms: number };
  /** A known tone of a network or a machine. `frequencies`: Hz; `at_ms`: when it began, after the answer. */
  readonly line_tone: { readonly tone: LineTone; readonly frequencies: readonly number[]; readonly at_ms: number };
  /** Answerer; a later event corrects an earlier event. `confidence`: 0 to 1; `at_ms`: after the answer. */
  readonly answered_by: {
    readonly answered_by: AnsweredBy;
    readonly reason: AnswerReason;
    readonly confidence: number;
    readonly at_ms: number;
  };
  /** The message starts for a machine to record. `after`: the evidence that it records. */
  readonly leaving_message: { readonly after: GreetingEnd };
  /**
   * The keys of `target.extension` were sent after the answer. `in_band`: as tones, because no other way was accepted.
   */
  readonly extension_dialled: { readonly extension: string; readonly in_band: boolean };
  /** A supervisor has started listening to the live call. `token_id`: null without a token, as in the console. */
  readonly listening_started: ListenerData;
  /** The supervisor has stopped listening, and the call continues. `listened_ms`: length of the audio they received. */
  readonly listening_ended: ListenerData & { readonly listened_ms: number };
  readonly held: NoData;
  readonly resumed: NoData;
  /** A message of the network's protocol, with secrets masked. */
  readonly signalling: { readonly direction: "sent" | "received"; readonly message: string };
  /** A live call on a network that does not return the callee's audio. */
  readonly "media.one_way": NoData;
  readonly "media.inbound_silent": { readonly after_ms: number };
  readonly "media.address_refused": { readonly address: string; readonly detail: string };
  readonly recording_incomplete: { readonly reason: IncompleteReason; readonly recorded_ms: number };
  readonly recording_deleted: { readonly reason: "requested" | "retention" };
  /** `dropped`: number of events. */
  readonly timeline_incomplete: { readonly dropped: number };
  readonly completed: FinalData;
  readonly failed: FinalData;
  readonly "instance.created": { readonly name: string };
  /** `phone`: E.164; null if the network does not report it. */
  readonly "instance.linked": { readonly phone: string | null };
  readonly "instance.active": NoData;
  readonly "instance.offline": { readonly reason: string };
  readonly "instance.unlinked": { readonly reason: string };
  /** The number of the instance is paused: calls wait until `paused_until`, RFC 3339, or end as `instance_paused`. */
  readonly "instance.paused": { readonly paused_until: string; readonly reason: string };
  readonly "instance.deleted": NoData;
  readonly batch_scheduled: BatchReference & { readonly start_at: string };
  readonly batch_started: BatchReference;
  readonly batch_paused: BatchReference & { readonly reason: string };
  readonly batch_resumed: BatchReference;
  readonly batch_completed: BatchReference & { readonly targets: Readonly<Record<string, number>> };
  readonly batch_cancelled: BatchReference & { readonly targets: Readonly<Record<string, number>> };
  /** A target has ended. `attempts`: its calls; `reason`: as in the batch's list of targets. */
  readonly target_done: BatchReference & {
    readonly position: number;
    readonly status: TargetStatus;
    readonly reason: string;
    readonly attempts: number;
    /** Last call of the target; null if it was not called. */
    readonly call_id: string | null;
  };
}

/** The batch of an event. */
export interface BatchReference {
  readonly batch_id: string;
}

/** Faults of a tool use. */
export const TOOL_FAULTS = ["input_invalid", "failed", "timeout", "result_invalid", "too_many", "call_over"] as const;
/** Reason why a tool use has no result. */
export type ToolFault = (typeof TOOL_FAULTS)[number];

/** Reasons why a recording ends before its call. */
export const INCOMPLETE_REASONS = ["disk_full", "disk_failed", "disk_slow", "too_long", "storage_quota"] as const;
/** One of {@link INCOMPLETE_REASONS}. */
export type IncompleteReason = (typeof INCOMPLETE_REASONS)[number];

/** The reference of the call, if it has one. */
export interface CallReference {
  readonly reference?: string | undefined;
}

/** The Call-ID by which the provider finds the call in its logs; only of calls over SIP. */
export interface SipReference {
  readonly sip_call_id?: string | undefined;
}

/** Listener of a live call. */
export interface ListenerData {
  readonly user_id: string;
  readonly token_id: string | null;
}

/** The outcome of the call, and the data that was attached to it at its creation. */
export interface FinalData extends OutcomeData, CallReference, SipReference {
  readonly metadata?: Metadata | undefined;
}

/** No data. */
export type NoData = Readonly<Record<string, never>>;

/** Every fact that the append-only log can hold, about calls and instances. */
export const EVENT_TYPES = [
  "queued",
  "route",
  "address_resolved",
  "ringing",
  "alerting",
  "early_media",
  "answered",
  "audio_truncated",
  "text_skipped",
  "audio_ignored",
  "message_ready",
  "message_delayed",
  "agent_started",
  "tool_used",
  "result_ready",
  "transferred",
  "transfer_failed",
  "dtmf",
  "callee_speech",
  "beep",
  "line_tone",
  "answered_by",
  "leaving_message",
  "extension_dialled",
  "listening_started",
  "listening_ended",
  "held",
  "resumed",
  "signalling",
  "media.one_way",
  "media.inbound_silent",
  "media.address_refused",
  "recording_incomplete",
  "recording_deleted",
  "timeline_incomplete",
  "completed",
  "failed",
  "instance.created",
  "instance.linked",
  "instance.active",
  "instance.offline",
  "instance.unlinked",
  "instance.paused",
  "instance.deleted",
  "batch_scheduled",
  "batch_started",
  "batch_paused",
  "batch_resumed",
  "batch_completed",
  "batch_cancelled",
  "target_done",
] as const;
/** The facts that an event reports. */
export type EventType = keyof EventData;

/** True if an event of this type is the end of its call; only facts about its recording and its result follow. */
export function isFinalEvent(type: EventType): type is "completed" | "failed" {
  return type === "completed" || type === "failed";
}

/** Maximum length of the text in `text_skipped`, characters. */
const MAX_SKIPPED_TEXT = 200;

/** The event for a passage that a voice does not speak. */
export function textSkipped({ text, characters }: EventData["text_skipped"]): Fact<"text_skipped"> {
  const letters = [...text.slice(0, 2 * MAX_SKIPPED_TEXT + 2)];
  const excerpt = letters.length > MAX_SKIPPED_TEXT ? `${letters.slice(0, MAX_SKIPPED_TEXT - 1).join("")}…` : text;
  return { event: "text_skipped", data: { text: excerpt, characters } };
}

/** A fact with its data, before it becomes an event of a call or an instance. */
export type Fact<Type extends EventType = EventType> = {
  readonly [T in Type]: { readonly event: T; readonly data: EventData[T] };
}[Type];

/** One line of the append-only log. Its id sorts by creation time. */
export type Event<Type extends EventType = EventType> = {
  readonly [T in Type]: EventSource & { readonly type: T; readonly data: EventData[T] };
}[Type];

/** Fields of every event. */
export interface EventSource {
  readonly id: string;
  /** ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Null for an event of an instance or a batch. */
  readonly callId: string | null;
  /** Null for an event of a batch. */
  readonly instanceId: string | null;
  readonly userId: string;
}

/** An event with its number, as shown. */
export type NumberedEvent = Event & {
  /**
   * Number of the event within its call, from 1, without gaps, in the order in which events were stored; null for an
   * instance.
   */
  readonly sequence: number | null;
};

/** An event at its place in the log. */
export type LoggedEvent = NumberedEvent & {
  /** Position in the log of the user: rises in the order in which events were stored. */
  readonly position: number;
};

/** The event as shown: positions are for cursors only. */
export function withoutPosition({ position: _, ...event }: LoggedEvent): NumberedEvent {
  return event;
}
