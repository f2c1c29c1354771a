import type { Transitions } from "../../../../src/base/state-machine.ts";
import type { LegEvent, RefusalScope, ReleaseCause } from "../../../../src/ports/telephony.ts";
import type { CalleeDevices } from "./callee-devices.ts";
import type { CallStanza } from "./stanza.ts";

/** States of our call. */
export type CallState =
  /** The offer has been sent, but WhatsApp has not acknowledged it. */
  | "offered"
  /** The callee's devices have the offer. */
  | "ringing"
  /** A device has accepted; there is no audio yet. */
  | "accepted"
  | "active"
  /** We hang up, once the client's buffered audio has been sent. */
  | "draining"
  /** We end the call. */
  | "ending"
  /** The network has ended the call, and the client is about to notice. */
  | "leaving"
  | "ended";

/** `repeat`: WhatsApp has refused the offer temporarily, and no phone rang, so the call may be offered again later. */
export type WhatsAppCallMove = "ring" | "accept" | "connect" | "drain" | "end" | "repeat" | "leave" | "conclude";

/** Every legal move of a call. */
export const CALL_MOVES: Transitions<CallState, WhatsAppCallMove> = {
  offered: {
    ...{ ring: "ringing", accept: "accepted", connect: "active" },
    ...{ end: "ending", repeat: "ending", leave: "leaving", conclude: "ended" },
  },
  ringing: { accept: "accepted", connect: "active", end: "ending", leave: "leaving", conclude: "ended" },
  accepted: { connect: "active", end: "ending", leave: "leaving", conclude: "ended" },
  active: { drain: "draining", end: "ending", leave: "leaving", conclude: "ended" },
  draining: { end: "ending", leave: "leaving", conclude: "ended" },
  ending: { conclude: "ended" },
  leaving: { conclude: "ended" },
  ended: {},
};

/** The end of a call. A refusal by the network states its scope, because number protection counts some refusals. */
export type CallEnd =
  | { readonly cause: Exclude<ReleaseCause, "rejected_by_network">; readonly detail: string | null }
  | { readonly cause: "rejected_by_network"; readonly detail: string; readonly refusal: RefusalScope };

/** State of a call after the decisions so far. */
export interface WhatsAppCallFlow {
  readonly state: CallState;
  /** The decided end of the call; undefined until then. */
  readonly end: CallEnd | undefined;
  /** True if the core knows that the network has the call. */
  readonly isPlaced: boolean;
  readonly hasAlerted: boolean;
  readonly onHold: boolean;
  readonly devices: CalleeDevices;
  /** Reason for the lost connection; undefined while it is not lost. */
  readonly lossReason: string | undefined;
  /** Time since the connection was lost, ms, in whole checks. */
  readonly lostMs: number;
}

export type CallInput =
  /** The client has sent the offer. */
  | { readonly type: "offered" }
  | { readonly type: "stanza"; readonly stanza: CallStanza }
  /** The client reports a state of the call. */
  | { readonly type: "client_state"; readonly state: string }
  | { readonly type: "client_ended"; readonly reason: string | undefined }
  /** The client's buffer is empty, and its last frame has been sent. */
  | { readonly type: "drained" }
  /** The client has ended the call, or has had enough time to do so. */
  | { readonly type: "released" }
  /** `quietMs`: time since the callee's last audio; Infinity if there has been none. */
  | { readonly type: "timer"; readonly timer: CallTimer; readonly quietMs: number }
  | { readonly type: "line_lost"; readonly reason: string; readonly isPermanent: boolean }
  /** The connection is about to be abandoned. */
  | { readonly type: "line_ending"; readonly reason: string }
  /** `hasCall`: true if the client still has the call. */
  | { readonly type: "line_restored"; readonly hasCall: boolean }
  | { readonly type: "hang_up" }
  | { readonly type: "fault"; readonly detail: string };

/**
 * `ack`: WhatsApp must have acknowledged the offer; `busy`: a callee whose phone is busy must ring at another device;
 * `media`: audio must flow; `line`: a check of a lost connection; `inbound`: a check that the callee's audio still
 * arrives; `drain`: the buffer must be empty; `leave`: the client must have noticed the end.
 */
export type CallTimer = "ack" | "busy" | "media" | "line" | "inbound" | "drain" | "leave";

export type WhatsAppCallEffect =
  | { readonly do: "emit"; readonly event: LegEvent }
  /** Replaces a running timer of this name. */
  | { readonly do: "start_timer"; readonly timer: CallTimer; readonly ms: number }
  | { readonly do: "stop_timer"; readonly timer: CallTimer }
  /** Start exchanging audio; `connected` is emitted with the first frame. */
  | { readonly do: "start_audio" }
  /** The call has been put on hold, or resumed. While it is on hold, no audio is pulled. */
  | { readonly do: "hold_audio"; readonly onHold: boolean }
  /** Stop pulling, and report when the client's buffer is empty. */
  | { readonly do: "drain" }
  /** End the call at the client. */
  | { readonly do: "end_call" }
  /** The call has ended: emit `ended`, and release everything. */
  | { readonly do: "conclude"; readonly end: CallEnd };

export interface CallDecision {
  readonly flow: WhatsAppCallFlow;
  readonly effects: readonly WhatsAppCallEffect[];
}
