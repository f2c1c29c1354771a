import type { FarEndCall } from "./far-end-call.ts";
import type { Challenge } from "./gate.ts";
import type { Field } from "./sip-text.ts";
import type { Speech } from "./voice.ts";

/** Behaviour of a callee. Default: it sends 180, answers immediately with 200, and sends silence. */
export interface Script {
  /** Requires credentials before any other response. */
  readonly challenge?: Challenge;
  /** Provisional responses, in order. Default: 180. */
  readonly rings?: readonly number[];
  /** True if the provisional responses carry SDP, followed by audio. */
  readonly earlyMedia?: boolean;
  /** True if it is silent after the answer. */
  readonly fallsSilent?: boolean;
  /** Announcement whose SDP is in the provisional responses: a separate voice that plays this until the answer. */
  readonly announcement?: Speech;
  /** True for reliable provisional responses (RFC 3262): each is repeated until its PRACK, which the answer waits for. */
  readonly reliable?: boolean;
  /** Actions of the callee between ringing and the final response. */
  readonly before?: (call: FarEndCall) => Promise<unknown>;
  /** Time between ringing and the final response, ms. Default: 0. */
  readonly afterMs?: number;
  /** Final response; `never` rings until it is cancelled. Default: 200. */
  readonly status?: number | "never";
  readonly reason?: string;
  /** Additional fields of the final response: Retry-After, Reason, Contact of a redirection. */
  readonly fields?: readonly Field[];
  /** Additional fields of the provisional and final responses: Record-Route. */
  readonly allFields?: readonly Field[];
  /** SDP answer. Default: the first codec that both sides support. */
  readonly sdp?: "none" | "no-common-codec";
  /** Answers on hold, until its re-INVITE; `zeros`: with an address of zeros, the obsolete way. */
  readonly onHold?: "sendonly" | "inactive" | "zeros";
  /** True if it accepts our audio and sends none: its SDP is `recvonly`. */
  readonly onlyListens?: boolean;
  /** SDP of the callee regardless of the offer, even in a refusal; the callee sends no audio. */
  readonly description?: string;
  /** Codecs of the callee. Default: PCMU, PCMA. */
  readonly codecs?: readonly ("PCMU" | "PCMA" | "G722")[];
  /** True if it does not support telephone-event. Default: false. */
  readonly noEvents?: boolean;
  /** True if it refuses INFO with 415. Default: false. */
  readonly refusesInfo?: boolean;
  /** Voice. Default: silence. */
  readonly says?: Speech;
  /** Host in its SDP for its audio, instead of its address. */
  readonly host?: string;
  /** Address of its audio and in its SDP: a media host separate from the signalling. */
  readonly mediaAt?: string;
  /** Sends its audio from this address rather than from the one in its SDP: `127.0.0.2`. */
  readonly sendFrom?: string;
  /** Number of callees that answer, each with its own tag; audio belongs to the first. Default: 1. */
  readonly forks?: number;
  /** True if it answers with 200 although it was cancelled. */
  readonly ignoresCancel?: boolean;
  /** Contact of the callee, instead of its own address. */
  readonly contact?: string;
  /** Responses of the callee to the first BYEs, in order; the next response is correct. */
  readonly byeResponses?: readonly { readonly status: number; readonly fields?: readonly Field[] }[];
  /**
   * Statuses that it reports by NOTIFY after a REFER, in order, by the user part of Refer-To; `leaves` is a BYE. Others are refused with 603. Default: every REFER is refused.
   */
  readonly transfers?: Readonly<Record<string, readonly (number | "leaves")[]>>;
  /** Response of the callee to OPTIONS within the call. Default: 200. */
  readonly options?: number | "silence";
  /** Actions of the callee after the ACK. */
  readonly acts?: (call: FarEndCall) => void | Promise<void>;
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Callees as seen in the wild. */
export const callees = {
  answers: {},
  busy: { status: 486, reason: "Busy Here" },
  rings: { status: "never" },
  declines: { status: 603, reason: "Decline" },
  unknown: { rings: [], status: 404, reason: "Not Found" },
  speaks: { says: { hz: 1000 } },
  silent: { says: "nothing" },
  answersWithoutSdp: { sdp: "none" },
  noCommonCodec: { sdp: "no-common-codec" },
  hangsUp: { acts: (call) => delay(300).then(() => call.hangUp()) },
  presses: (keys: string): Script => ({ acts: (call) => delay(200).then(() => call.voice?.press(keys)) }),
  challenges: (challenge: Challenge): Script => ({ challenge }),
  redirects: (to: string): Script => ({
    ...{ rings: [], status: 302, reason: "Moved Temporarily" },
    fields: [["Contact", `<${to}>`]],
  }),
  answersOnHold: (durationMs: number): Script => ({
    onHold: "sendonly",
    async acts(call) {
      await delay(durationMs);
      await call.reinvite("sendrecv");
    },
  }),
  holds: (afterMs: number, durationMs: number): Script => ({
    async acts(call) {
      await delay(afterMs);
      await call.reinvite("sendonly");
      await delay(durationMs);
      await call.reinvite("sendrecv");
    },
  }),
} satisfies Record<string, Script | ((...args: never) => Script)>;
