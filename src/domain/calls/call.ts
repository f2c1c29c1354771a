import type { Transitions } from "../../base/state-machine.ts";
import type { AgentInput } from "../agents/agent-input.ts";
import type { TurnMetrics } from "../agents/turn-metrics.ts";
import type { OnMachine } from "../answering/answering-machine.ts";
import type { OnScreening } from "../answering/screening-policy.ts";
import type { Metadata } from "../instances/instance.ts";
import type { CallerId } from "../numbers/caller-id.ts";
import type { FileBytes } from "./file-bytes.ts";
import type { MediaStatistics } from "./media-statistics.ts";
import type { StartOn, StartRules } from "./message-start.ts";
import type { Outcome } from "./outcome.ts";
import type { QualityInterval } from "./quality-series.ts";
import type { SipChoice } from "./sip-choice.ts";

/** Types of calls, by what the callee gets. */
export const CALL_TYPES = ["FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_STREAM", "DYNAMIC_AGENT"] as const;
/** Message for the callee: a text, a file, a live stream, an agent. */
export type CallType = (typeof CALL_TYPES)[number];

/** Statuses of a call, in the order of a successful call; the last two are final. */
export const CALL_STATUSES = ["QUEUED", "RINGING", "IN_PROGRESS", "COMPLETED", "FAILED"] as const;
/** Status of a call; its result is its outcome. */
export type CallStatus = (typeof CALL_STATUSES)[number];

/** Inputs of a stored call. */
export type CallMove = "place" | "connect" | "complete" | "fail";

/** Every legal move of a call; no other value is ever written. */
export const CALL_TRANSITIONS: Transitions<CallStatus, CallMove> = {
  QUEUED: { place: "RINGING", fail: "FAILED" },
  RINGING: { connect: "IN_PROGRESS", fail: "FAILED" },
  IN_PROGRESS: { complete: "COMPLETED", fail: "FAILED" },
  COMPLETED: {},
  FAILED: {},
};

/** The message to the callee, or the callee's partner in the conversation. */
export type Message =
  | ({ readonly type: "FIXED_TTS"; readonly text: string; readonly voiceId: string } & MachinePolicy & MessageStart)
  | ({
      readonly type: "FIXED_AUDIO";
      readonly format: "wav" | "mp3";
      /** Length of the audio, ms. */
      readonly durationMs: number;
      /** True if the file is shorter than its header states; it is played to its end. */
      readonly truncated: boolean;
      /** Number of the file's bytes by use; undefined if the decoder does not count them. */
      readonly bytes?: FileBytes | undefined;
      /** SHA-256 of the file, lower-case hex; undefined for a call of an earlier version. */
      readonly sha256?: string | undefined;
      /** The stored audio file; undefined if the call has its own file. */
      readonly audioId?: string | undefined;
    } & MachinePolicy &
      MessageStart)
  | ({ readonly type: "DYNAMIC_STREAM" } & Extension)
  | ({ readonly type: "DYNAMIC_AGENT"; readonly instructions: readonly string[] } & Readonly<
      Omit<AgentInput, "instructions">
    > &
      Extension);

/** Behaviour of a call once a machine has answered. */
export interface MachinePolicy {
  /** Default: `continue`, as with a person. */
  readonly onMachine?: OnMachine | undefined;
  /** Policy if a call-screening assistant answers. Default: `continue`, as with a person. */
  readonly onScreening?: OnScreening | undefined;
}

/** Keys that are sent after the answer. */
interface Extension {
  readonly extension?: string | undefined;
}

/** Trigger of a fixed message. Default: the answer. */
interface MessageStart extends Extension {
  readonly startOn?: StartOn | undefined;
  /** A pause before the message, ms. */
  readonly startDelayMs?: number | undefined;
}

/** The steps between the answer and the first sound of a call. */
export function startRulesOf({ extension, ...message }: Message): StartRules {
  const { startOn = "answer", startDelayMs = 0 } = message as MessageStart;
  return { extension, startOn, startDelayMs };
}

/** Behaviour of the call once a machine has answered. */
export function machinePolicyOf(message: Message): OnMachine {
  return ("onMachine" in message ? message.onMachine : undefined) ?? "continue";
}

/** The call's policy if a call-screening assistant answers. */
export function screeningPolicyOf(message: Message): OnScreening {
  return ("onScreening" in message ? message.onScreening : undefined) ?? "continue";
}

/** Result that an agent reported on a call; JSON. */
export type CallResult = Readonly<Record<string, unknown>>;

/** A stored call. Times are ms since 1970-01-01 UTC. */
export interface Call {
  readonly id: string;
  readonly instanceId: string;
  readonly userId: string;
  /** The token that created it; null if it was created without one. */
  readonly tokenId: string | null;
  /** Prefixes of the numbers that its creator may call; undefined: every number. */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /**
   * Maximum number of calls that its token may create within 24 hours, including transfers; undefined: the server's
   * limit.
   */
  readonly maxCallsPerDay?: number | undefined;
  /** True if a demo token created it, so that its bytes also count towards its instance's budget. */
  readonly isDemo?: true | undefined;
  readonly status: CallStatus;
  /** E.164, exactly as sent. */
  readonly targetPhone: string;
  /** The caller, as chosen by the call or its instance at creation; undefined: the network's own. */
  readonly from?: CallerId | undefined;
  /** The call's choices for its INVITE; undefined: none, or the network does not speak SIP. */
  readonly sip?: SipChoice | undefined;
  /** The Call-ID of its last INVITE; undefined if none was sent. */
  readonly sipCallId?: string | undefined;
  readonly message: Message;
  /** The application's own name for the call, as set at creation; undefined if none. */
  readonly reference?: string | undefined;
  /** Data of the application, stored with the call; undefined if none. */
  readonly metadata?: Metadata | undefined;
  /** The batch that placed the call; undefined if none did. */
  readonly batchId?: string | undefined;
  /** The position of its target in the batch; undefined if no batch placed it. */
  readonly batchPosition?: number | undefined;
  /** Number of the call among those to its target, from 1; undefined if no batch placed it. */
  readonly batchAttempt?: number | undefined;
  readonly outcome: Outcome | null;
  /** Result that an agent reported, keyed by the names in its instructions; undefined if there is none yet. */
  readonly result?: CallResult | undefined;
  /** Reason why an agent has no result even though the call has ended; null or missing if there is no such reason. */
  readonly resultError?: string | null | undefined;
  /** The latencies of an agent's turns; undefined if no agent has conducted it, or it has not ended. */
  readonly turns?: readonly TurnMetrics[] | undefined;
  /** Statistics of its audio on the network; null until it has ended, and if the network has none. */
  readonly mediaStatistics: MediaStatistics | null;
  /** The quality of its audio over time, oldest first; stored when the call has ended. Undefined if not measured. */
  readonly quality?: readonly QualityInterval[] | undefined;
  /**
   * Length of the stored recording, ms: 0 until the call has ended, and if none is stored. Null if none was requested.
   */
  readonly recordedMs: number | null;
  readonly createdAt: number;
  /** End of its time in the queue, as chosen at creation; undefined: the server's queue timeout applies. */
  readonly expiresAt?: number | undefined;
  /** Time until which the queue skips it, because its calling hours have not begun; undefined if it was not delayed. */
  readonly notBefore?: number | undefined;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The place in the instance's queue that an active call holds (see queue-capacity.ts). */
  readonly slot: number;
  /** The process that works on this call; null until a process has claimed it. */
  readonly owner: string | null;
  /**
   * Time at which its claim was stored, ms since 1970-01-01 UTC: the callee's phone may ring after that. Null while it
   * waits; a call that is returned to the queue before the network was asked waits again.
   */
  readonly dialingAt: number | null;
  /**
   * The line of its instance that it occupies, or occupied when it ended, from 0; null while it waits (see
   * queue-capacity.ts).
   */
  readonly line: number | null;
  /** Number of writes; a write names the version it expects. */
  readonly version: number;
}

/** A filter of calls; a missing field matches every call. */
export interface CallFilter {
  readonly instanceId?: string | undefined;
  /** One status, or several; an empty list matches no call. */
  readonly status?: CallStatus | readonly CallStatus[] | undefined;
  readonly type?: CallType | undefined;
  /** Exactly this reference. */
  readonly reference?: string | undefined;
  /** Exactly this number, E.164. */
  readonly targetPhone?: string | undefined;
  /** The batch that placed the calls. */
  readonly batchId?: string | undefined;
  /** ms since 1970-01-01 UTC; strictly after. */
  readonly createdAfter?: number | undefined;
  /** ms since 1970-01-01 UTC; strictly before. */
  readonly createdBefore?: number | undefined;
}

/** Filters by a field that few calls share, the most selective first: a list reads the index of one of them. */
export const NAMED_FILTERS = ["reference", "targetPhone", "batchId"] as const satisfies readonly (keyof CallFilter &
  keyof Call)[];

/** A call of this type. */
export type CallOf<Type extends CallType> = Call & { readonly message: Extract<Message, { readonly type: Type }> };

/** Fields of a new call, which has not been dialled. */
export const UNDIALLED: Pick<Call, "startedAt" | "endedAt" | "slot" | "owner" | "dialingAt" | "line" | "version"> = {
  startedAt: null,
  endedAt: null,
  slot: 0,
  owner: null,
  dialingAt: null,
  line: null,
  version: 1,
};

/** The call as its creation returned it, without later changes. */
export function asCreated(call: Call): Call {
  const {
    sipCallId: _,
    result: __,
    resultError: ___,
    turns: ____,
    quality: _____,
    notBefore: ______,
    ...fields
  } = call;
  return {
    ...fields,
    status: "QUEUED",
    outcome: null,
    mediaStatistics: null,
    recordedMs: call.recordedMs === null ? null : 0,
    ...UNDIALLED,
    slot: call.slot,
  };
}

/** True if the call is queued, ringing or in progress. */
export function isActive(status: CallStatus): boolean {
  return status !== "COMPLETED" && status !== "FAILED";
}
