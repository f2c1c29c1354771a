import type { Principal } from "../domain/access/principal.ts";
import type { CreateAudioInput } from "../domain/calls/audio-schemas.ts";
import type { Call, CallFilter, CallStatus, CallType } from "../domain/calls/call.ts";
import type { CreateCallInput } from "../domain/calls/call-input.ts";
import type { FailedReason } from "../domain/calls/outcome.ts";
import type { StoredAudio } from "../domain/calls/stored-audio.ts";
import type { TranscriptLine } from "../domain/calls/transcript.ts";
import type { Consent, ConsentStatus } from "../domain/dialling-rules/consent.ts";
import type { ConsentInput } from "../domain/dialling-rules/consent-input.ts";
import type { Pause } from "../domain/dialling-rules/number-protection.ts";
import type { NumberedEvent } from "../domain/events.ts";
import type { Instance } from "../domain/instances/instance.ts";
import type { CreateInstanceInput, UpdateInstanceInput } from "../domain/instances/instance-input.ts";
import type { LineCondition, LineNotice, LineState } from "../domain/instances/line-flow.ts";
import type { PairingInput } from "../domain/instances/pairing-input.ts";
import type { CallerIdRule } from "../domain/numbers/caller-id.ts";
import type { DeliveryStatus, Webhook, WebhookDelivery } from "../domain/webhooks/webhook.ts";
import type { CreateWebhookInput, UpdateWebhookInput } from "../domain/webhooks/webhook-input.ts";
import type { StoredRecording } from "../ports/recordings.ts";
import type { Voice } from "../ports/speech.ts";
import type { Page } from "../ports/storage.ts";
import type { AudioThread } from "../ports/telephony.ts";
import type { CallListening } from "./call-audio/listeners/listen-items.ts";
import type { StreamReservation } from "./call-audio/streams/stream-client.ts";
import type { StageLatency, TurnStage } from "./counters.ts";
import type { LinkTicket } from "./instances/link-tickets.ts";
import type { VoiceFilter } from "./listed-voices.ts";

// The use cases of Ringport, without HTTP. An embedding program calls them; the HTTP interface is a thin layer above
// them. Each throws a Refusal with the `code` of the matching problem document; a refused request makes no change.
// Another user's record is refused exactly like a missing one.

/** Options of every creation. */
export interface CreateOptions {
  /**
   * For 24 h, the same key with the same input returns the first result instead of creating again; 1-255 visible ASCII
   * characters.
   */
  readonly idempotencyKey?: string | undefined;
  /** Refuses unknown fields. */
  readonly strict?: boolean | undefined;
  /** Aborts the wait for an audio file's check or for a pairing code; no call is created then. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of a creation. */
export interface Creation {
  /** False for a call that was already active. */
  readonly created: boolean;
  /** True if the idempotency key has been used before: this is the first result. */
  readonly replayed: boolean;
}

/** The live state of an instance's line, from the last probe. */
export interface Connection {
  readonly state: LineState;
  /** The linked number, E.164, if the network reports it. */
  readonly phone: string | null;
  /** Time at which a probe last found it online; ms since 1970-01-01 UTC. */
  readonly lastSeenAt: number | null;
  /** Reason why it is not online; null while it is. */
  readonly reason: string | null;
  /** Additional information for the owner of the number; null if there is none. */
  readonly condition: LineCondition | null;
  /** The condition of a line that is online, with its reason and its end; undefined if there is none. */
  readonly notice?: LineNotice | undefined;
  readonly provider: string;
  /** The end of the pause of its number or its line, during which calls wait, and the reason; undefined without one. */
  readonly pause?: Pause | undefined;
}

/** An instance with the live state of its line. */
export interface ListedInstance extends Instance {
  readonly connection: Connection;
}

/** An instance with its current activity. */
export interface InstanceDetails extends ListedInstance {
  /** Active calls, oldest first. */
  readonly callQueue: readonly Call[];
}

/** A code to be scanned with the phone. */
export interface LinkingCode {
  readonly instanceId: string;
  /** The text of the QR code. */
  readonly payload: string;
  /** Time at which the next code appears; ms since 1970-01-01 UTC. */
  readonly expiresAt: number;
  /** Number of the code within one linking attempt: 1, 2, 3 … */
  readonly sequence: number;
  /** A sentence for the person who scans. */
  readonly message: string;
}

/** A code to be typed on the phone. */
export interface TypedLinkCode {
  readonly instanceId: string;
  readonly code: string;
  /** ms since 1970-01-01 UTC. */
  readonly expiresAt: number;
  /** A sentence for the person who types it. */
  readonly message: string;
}

/** Content of the link page of an instance. */
export type LinkPageState = {
  /** The name of the instance. */
  readonly name: string;
} & ({ readonly linked: true; readonly phone: string | null } | { readonly linked: false; readonly code: LinkingCode });

/** The use cases of instances. Every method may throw a Refusal. */
export interface InstanceUseCases {
  create(principal: Principal, input: CreateInstanceInput, options?: CreateOptions): Promise<Instance & Creation>;
  /** Changes the fields in the input. A new caller number applies to calls created from now on. */
  update(
    principal: Principal,
    instanceId: string,
    input: UpdateInstanceInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<Instance>;
  /** Lists the user's instances, newest first. */
  list(principal: Principal, page?: Page): Promise<ListedInstance[]>;
  get(principal: Principal, instanceId: string): Promise<InstanceDetails>;
  /** Starts linking if idle and returns the current code; waits at most 10 s for one. */
  configure(principal: Principal, instanceId: string, limit?: Pick<WaitLimit, "signal">): Promise<LinkingCode>;
  /**
   * A code to type on the phone instead of scanning one; waits at most 10 s for it. Throws Refusal
   * `instance_already_linked`, `pairing_code_unsupported`, `pairing_code_unavailable`.
   */
  pairingCode(
    principal: Principal,
    instanceId: string,
    input: PairingInput,
    options?: Pick<CreateOptions, "strict" | "signal">,
  ): Promise<TypedLinkCode>;
  /**
   * A ticket for a page that shows the current code until the number is linked: for the person who holds the phone. It
   * is valid for an hour.
   */
  linkTicket(principal: Principal, instanceId: string): Promise<LinkTicket>;
  /**
   * Content of a ticket's page; waits for a code like {@link configure}. Throws Refusal `link_page_not_found`,
   * `link_page_expired`, `qr_unavailable`, `server_busy`.
   */
  linkPage(ticket: string, limit?: Pick<WaitLimit, "signal">): Promise<LinkPageState>;
  /**
   * Unlinks the number of an instance: the live call ends, the credentials are erased, and waiting calls wait for
   * another number. Has no effect if no number is linked. After a `StorageUnavailable` it continues automatically.
   * @throws {Refusal} `linked_by_operator`: the operator links the numbers of its network
   */
  unlink(principal: Principal, instanceId: string): Promise<Instance>;
  /**
   * Deletes an instance: ends its calls, unlinks its number and erases its credentials. After a `StorageUnavailable`
   * the deletion continues automatically, and a repeated request waits for its end.
   */
  delete(principal: Principal, instanceId: string): Promise<void>;
}

/** The part of a log to read. */
export interface EventQuery {
  /** The cursor of the previous page; `latest` for new events only; undefined to start at the first event. */
  readonly cursor?: string | undefined;
  /** Maximum number of events. */
  readonly limit?: number | undefined;
}

/** The part of a user's log, or of one instance's log, to read. */
export interface LogQuery extends EventQuery {
  readonly instanceId?: string | undefined;
}

/** Time limit of a reader that waits for new events. */
export interface WaitLimit {
  /** The longest wait, ms. Default: none. */
  readonly waitMs?: number | undefined;
  /** Ends the wait; the events available then are returned. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of a log, oldest first. */
export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** Cursors for resuming after each of these events. */
  readonly cursors: readonly string[];
  /** Cursor after the last of these events; an empty page returns the cursor it was read from. */
  readonly cursor: string;
  /** True if more events are already stored. */
  readonly more: boolean;
}

/** The use cases of calls. Every method may throw a Refusal. */
export interface CallUseCases {
  create(principal: Principal, input: CreateCallInput, options?: CreateOptions): Promise<Call & Creation>;
  get(principal: Principal, callId: string): Promise<Call>;
  /** Lists the user's calls, newest first. */
  list(principal: Principal, filter?: CallFilter, page?: Page): Promise<Call[]>;
  /** Ends an active call; resolves when `FAILED/terminated` is stored. */
  hangUp(principal: Principal, callId: string): Promise<void>;
  /**
   * The events so far; all of them without a `limit`. With `waitMs`, an active call's empty page waits for an event;
   * throws Refusal `stopping` if this process stops before there is one.
   */
  timeline(principal: Principal, callId: string, query?: EventQuery, limit?: WaitLimit): Promise<EventPage>;
  /**
   * All events, past and new, each once; ends after the final event. Throws Refusal
   * `call_not_found`, and `stopping` if this process stops before the call has ended.
   */
  events(principal: Principal, callId: string, options?: { signal?: AbortSignal }): AsyncIterable<NumberedEvent>;
  /**
   * The transcripts of calls that {@link get} or {@link list} have returned, by call id, in the order spoken; calls
   * without a transcript are left out. Throws Refusal `call_not_found`.
   */
  transcripts(
    principal: Principal,
    calls: readonly Pick<Call, "id" | "userId" | "instanceId">[],
  ): Promise<ReadonlyMap<string, readonly TranscriptLine[]>>;
  /**
   * Reserves the live stream of a `DYNAMIC_STREAM` call for the client that will carry its audio. Throws Refusal
   * `stream_not_available`, `call_not_found`, `not_a_stream_call`, `call_ended`, `stream_already_attached`.
   */
  stream(principal: Principal, callId: string): Promise<StreamReservation>;
  /**
   * A call with a live stream that has not ended, whether or not a client is attached to it.
   * Throws Refusal `stream_not_available`, `call_not_found`, `not_a_stream_call`, `call_ended`.
   */
  streamable(principal: Principal, callId: string): Promise<Call>;
  /**
   * Listens to both sides of a live call, from its answer on; a call has at most 4 listeners. The timeline records it.
   * Throws Refusal `call_not_found`, `call_ended`, `too_many_listeners`.
   */
  listen(principal: Principal, callId: string): Promise<CallListening>;
  /** Recording of a call, even while it grows. Throws Refusal `call_not_found`, `recording_not_found`. */
  recording(principal: Principal, callId: string): Promise<StoredRecording>;
  /**
   * Deletes the recording of a call permanently; an active call is no longer recorded. Throws as
   * {@link recording} does.
   */
  eraseRecording(principal: Principal, callId: string): Promise<void>;
  /** Resolves with the call once it is final; throws as {@link events} does. */
  wait(principal: Principal, callId: string, options?: { signal?: AbortSignal }): Promise<Call>;
}

/** A webhook with its secret, which can be read only once. */
export interface WebhookWithSecret extends Webhook {
  /** `whsec_…`: the key that its endpoint verifies messages with. */
  readonly secret: string;
}

/** The use cases of webhooks. A demo token is refused with `demo_token_restricted`. */
export interface WebhookUseCases {
  /** Creates a webhook, which gets events stored from now on. Throws Refusal `webhook_quota`. */
  create(
    principal: Principal,
    input: CreateWebhookInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<WebhookWithSecret>;
  /** Lists the user's webhooks, newest first. */
  list(principal: Principal, page?: Page): Promise<Webhook[]>;
  /** Throws Refusal `webhook_not_found`, as all of the following do. */
  get(principal: Principal, webhookId: string): Promise<Webhook>;
  update(
    principal: Principal,
    webhookId: string,
    input: UpdateWebhookInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<Webhook>;
  /** Deletes a webhook with its deliveries. */
  delete(principal: Principal, webhookId: string): Promise<void>;
  /** Replaces the secret. For 24 h messages are signed with the old secret too. */
  rotateSecret(principal: Principal, webhookId: string): Promise<WebhookWithSecret>;
  /** Sends an event of the type `webhook.test`. Throws Refusal `webhook_disabled`, `delivery_quota`. */
  test(principal: Principal, webhookId: string): Promise<WebhookDelivery>;
  /**
   * Lists deliveries, newest first. Ended deliveries are kept for seven days; of tests and replays, only the newest
   * 1,000 are kept.
   */
  deliveries(
    principal: Principal,
    webhookId: string,
    filter?: { status?: DeliveryStatus | undefined },
    page?: Page,
  ): Promise<WebhookDelivery[]>;
  /**
   * Delivers the same event again, as a new delivery. Throws Refusal `delivery_not_found`, `webhook_disabled`,
   * `delivery_quota`.
   */
  replay(principal: Principal, webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
}

/** The use cases of stored audio files. A demo token is refused with `demo_token_restricted`. */
export interface AudioUseCases {
  /**
   * Stores an audio file for calls and batches, after the same checks as that of a call. A file with the same content is
   * not stored again: the result is the existing one, which expires at the later of both times. Throws Refusal
   * `audio_unsupported`, `audio_quota`, `storage_quota`, `server_busy`.
   */
  create(principal: Principal, input: CreateAudioInput, options?: CreateOptions): Promise<StoredAudio & Creation>;
  /** Throws Refusal `audio_not_found`, as the following does: unknown, deleted or expired. */
  get(principal: Principal, audioId: string): Promise<StoredAudio>;
  /** Deletes a file. Calls and batches that were accepted with it still play it. */
  delete(principal: Principal, audioId: string): Promise<void>;
  /** Lists the user's files, newest first. */
  list(principal: Principal, page?: Page): Promise<StoredAudio[]>;
}

/** A consent as currently stored. */
export interface StoredConsent extends Consent {
  /** True if no consent for this number had been recorded before. */
  readonly created: boolean;
}

/**
 * Consents of callees. Every method throws Refusal `phone_number_invalid` for text that is not an E.164 number, and
 * `demo_token_restricted`.
 */
export interface ConsentUseCases {
  /** Records a consent, replacing an earlier consent. */
  put(
    principal: Principal,
    phone: string,
    input: ConsentInput,
    options?: Pick<CreateOptions, "strict">,
  ): Promise<StoredConsent>;
  /** Throws Refusal `consent_not_found`, as the following does. */
  get(principal: Principal, phone: string): Promise<Consent>;
  delete(principal: Principal, phone: string): Promise<void>;
  /** Lists the consents by ascending number; a page continues after a number. */
  list(principal: Principal, filter?: { status?: ConsentStatus | undefined }, page?: Page): Promise<Consent[]>;
}

/** Results of recent days' calls. */
export interface CallStatistics {
  /** Oldest day first; a call counts on the day of its creation, and days without calls are included. */
  readonly days: readonly {
    /** The day in UTC, such as `2026-11-27`. */
    readonly day: string;
    readonly completed: number;
    readonly failed: number;
  }[];
  /** Failed calls of these days by the reason of their outcome, the most frequent first. */
  readonly failures: readonly { readonly reason: FailedReason; readonly calls: number }[];
}

/** A network that a new instance can choose. */
export interface OpenNetwork {
  /** The `provider` of an instance. */
  readonly name: string;
  /** Method of linking a number: a code that the number's owner scans, or the operator. */
  readonly linking: "code" | "operator";
  /** True if the callee's audio reaches the server, so that agents and streams can listen. */
  readonly receivesAudio: boolean;
  /** The allowed caller numbers; null if the caller cannot be chosen. */
  readonly callerIds: CallerIdRule | null;
}

/** The queries that span records. */
export interface QueryUseCases {
  /** The events of the user's instances and calls, or of one instance; at most 50 without a `limit`. */
  events(principal: Principal, query?: LogQuery): Promise<EventPage>;
  /**
   * Like {@link events}, but waits for an event; returns an empty page after `waitMs`. Throws Refusal `stopping` if
   * this process stops before there is an event.
   */
  nextEvents(principal: Principal, query: LogQuery, limit: WaitLimit): Promise<EventPage>;
  /** Results of the user's calls in the last 14 days. Throws Refusal `demo_token_restricted`. */
  callSummary(principal: Principal): Promise<CallStatistics>;
  /** The networks that the user's instances may use, the default one first. */
  networks(principal: Principal): Promise<OpenNetwork[]>;
  /** The available voices, without variants unless the filter asks for them. */
  voices(filter?: VoiceFilter): Promise<readonly Voice[]>;
  /**
   * A short sentence in the voice's own language, as a WAV file: 16-bit PCM, mono, 16 kHz. A user may request four at a
   * time. Throws Refusal `voice_not_found`, `speech_unavailable`, `server_busy`.
   */
  voiceSample(voiceId: string, userId?: string, limit?: Pick<WaitLimit, "signal">): Promise<Uint8Array<ArrayBuffer>>;
  /** True if the storage responds and the server is not stopping. */
  ready(): Promise<boolean>;
  /** The threads that carry the audio of calls, of all networks that report them. */
  audioThreads(): readonly AudioThread[];
  /** Figures for `/metrics`. */
  figures(): Promise<Figures>;
}

export interface Figures {
  readonly calls: Partial<Record<CallStatus, number>>;
  /** Number of calls with a live session in this process. */
  readonly liveCalls: number;
  /** Final calls of this process, by `STATUS/reason`. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly linesOnline: number;
  readonly created: Partial<Record<CallType, number>>;
  readonly turnStages: Partial<Record<TurnStage, StageLatency>>;
  readonly interruptions: number;
}
