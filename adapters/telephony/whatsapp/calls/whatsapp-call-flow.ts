import { nextState } from "../../../../src/base/state-machine.ts";
import type { LegEvent } from "../../../../src/ports/telephony.ts";
import {
  answeredEnd,
  BUSY,
  DECLINED,
  HUNG_UP,
  lineLostEnd,
  noMediaEnd,
  RELEASED,
  refusedOfferEnd,
  rejectedEnd,
  terminatedEnd,
  unacknowledgedEnd,
  unansweredEnd,
} from "./call-ends.ts";
import {
  CALL_MOVES,
  type CallDecision,
  type CallEnd,
  type CallInput,
  type CallTimer,
  type WhatsAppCallEffect,
  type WhatsAppCallFlow,
  type WhatsAppCallMove,
} from "./call-states.ts";
import { isOnlyPhoneBusy, isRejectedByAll, UNKNOWN_DEVICES, withRejection, withRinging } from "./callee-devices.ts";
import { isRepeated } from "./offer-errors.ts";
import { type CallStanza, isDeclined } from "./stanza.ts";

/** Maximum time until WhatsApp acknowledges an offer, ms. */
export const ACK_MS = 10_000;
/** Time within which another device rings if the callee's devices are unknown and one is busy, ms. */
export const BUSY_MS = 2_000;
/** Maximum time until an accepted call's audio path works, ms. */
export const MEDIA_MS = 20_000;
/** Interval between checks of a call whose connection is lost, ms; a ringing call ends after the first interval. */
export const LINE_CHECK_MS = 10_000;
/** Maximum time that a call with flowing audio continues without its connection, ms. */
export const LINE_LIMIT_MS = 30_000;
/** Maximum age of the latest audio for audio to count as flowing, ms. */
const FLOWING_MS = 1_000;
/** Time without audio from the callee after which silence is reported, ms; quiet audio does not count. */
export const INBOUND_MS = 10_000;
/** Upper bound of the audio in the client's buffer, ms. */
export const DRAIN_MS = 600;
/** Time limit for a client that received a `<terminate>` to end the call, ms. */
export const LEAVE_MS = 1_000;

const NEW_CALL: WhatsAppCallFlow = {
  state: "offered",
  end: undefined,
  isPlaced: false,
  hasAlerted: false,
  onHold: false,
  devices: UNKNOWN_DEVICES,
  lossReason: undefined,
  lostMs: 0,
};

/** The state of a call whose offer the client has sent. */
export function newCall(): CallDecision {
  return withEffects(NEW_CALL, start("ack", ACK_MS));
}

/**
 * Decides what an input means for a call: a pure function, whose effects `WhatsAppLeg` carries out. The first reason
 * for the end is kept.
 */
export function decideCall(flow: WhatsAppCallFlow, input: CallInput): CallDecision {
  switch (flow.state) {
    case "ended":
      return withEffects(flow);
    case "draining":
      return decideDraining(flow, input);
    case "ending":
      if (isSessionEnd(input) || input.type === "released") return conclude(flow);
      // The refusal does not belong to this call, whose offer has rung, so the core must not place it again.
      return !flow.isPlaced && showsOffer(input)
        ? withEffects({ ...flow, isPlaced: true }, emit({ type: "placed" }))
        : withEffects(flow);
    case "leaving":
      if (input.type === "timer" && input.timer === "leave") return endUnnoticed(flow);
      return isSessionEnd(input) || input.type === "client_ended" ? conclude(flow) : withEffects(flow);
    default:
      return decideOngoing(flow, input);
  }
}

/** Handles an input to a call that has not ended. */
function decideOngoing(flow: WhatsAppCallFlow, input: CallInput): CallDecision {
  switch (input.type) {
    case "stanza":
      return decideStanza(flow, input.stanza);
    case "client_state":
      return decideClientState(flow, input.state);
    case "client_ended":
      return conclude(
        flow,
        isAnswered(flow) ? answeredEnd(input.reason) : unansweredEnd(input.reason, flow.hasAlerted),
      );
    case "timer":
      return decideTimer(flow, input.timer, input.quietMs);
    case "line_lost":
      if (input.isPermanent) return conclude(flow, lineLostEnd(input.reason));
      if (flow.lossReason !== undefined) return withEffects(flow);
      return withEffects({ ...flow, lossReason: input.reason, lostMs: 0 }, start("line", LINE_CHECK_MS));
    case "line_restored":
      if (!input.hasCall) return conclude(flow, lineLostEnd("the client has reconnected without this call"));
      return withEffects({ ...flow, lossReason: undefined }, stop("line"));
    case "line_ending":
      return endCall(flow, lineLostEnd(input.reason));
    case "hang_up":
      if (flow.state !== "active") return endCall(flow, RELEASED);
      return transition({ ...flow, end: RELEASED }, "drain", { do: "drain" }, start("drain", DRAIN_MS));
    case "fault":
      return endCall(flow, { cause: "internal_error", detail: input.detail });
    default:
      return withEffects(flow);
  }
}

function decideStanza(flow: WhatsAppCallFlow, input: CallStanza): CallDecision {
  switch (input.type) {
    case "offer_accepted":
      return endIfRejected(offerAccepted({ ...flow, devices: { ...flow.devices, offeredDevices: input.devices } }));
    case "offer_refused":
      if (flow.state !== "offered") return withEffects(flow);
      return endCall(flow, refusedOfferEnd(input.code), isRepeated(input.code) ? "repeat" : "end");
    case "preaccept": {
      const acceptDecision = offerAccepted({ ...flow, devices: withRinging(flow.devices, input.device) });
      if (flow.hasAlerted || isAnswered(flow)) return acceptDecision;
      return withEffects(
        { ...acceptDecision.flow, hasAlerted: true },
        ...acceptDecision.effects,
        emit({ type: "alerting" }),
      );
    }
    case "accept":
      return decideAnswer(flow);
    case "reject":
      return decideRejection(flow, input);
    case "terminate": {
      const end = isAnswered(flow) ? HUNG_UP : terminatedEnd(input.reason, flow.hasAlerted);
      return transition({ ...flow, end }, "leave", start("leave", LEAVE_MS));
    }
  }
}

/** Handles an offer that the network has accepted. */
function offerAccepted(flow: WhatsAppCallFlow): CallDecision {
  return flow.state === "offered" ? transition(flow, "ring", stop("ack")) : withEffects(flow);
}

/** The client ignores rejections: its call continues ringing until we end it. */
function decideRejection(
  flow: WhatsAppCallFlow,
  { device, reason }: Extract<CallStanza, { type: "reject" }>,
): CallDecision {
  if (isAnswered(flow)) return withEffects(flow);
  if (isDeclined(reason)) return endCall(flow, DECLINED);
  if (device === undefined) return offerAccepted(flow);
  const decision = endIfRejected(offerAccepted({ ...flow, devices: withRejection(flow.devices, device, reason) }));
  const startsBusyTimer = !isOnlyPhoneBusy(flow.devices) && isOnlyPhoneBusy(decision.flow.devices);
  return startsBusyTimer ? withEffects(decision.flow, ...decision.effects, start("busy", BUSY_MS)) : decision;
}

/** Ends a call that each device has rejected separately, if the devices are known. */
function endIfRejected(decision: CallDecision): CallDecision {
  const { flow } = decision;
  if (!isRejectedByAll(flow.devices) || isAnswered(flow)) return decision;
  const endDecision = endCall(flow, rejectedEnd([...flow.devices.rejections.values()]));
  return withEffects(endDecision.flow, ...decision.effects, ...endDecision.effects);
}

function decideClientState(flow: WhatsAppCallFlow, state: string): CallDecision {
  switch (state) {
    case "connecting":
      return decideAnswer(flow);
    case "active":
      return flow.state === "active" ? decideHold(flow, false) : decideConnection(flow);
    case "on_hold":
      return decideHold(flow, true);
    default:
      return withEffects(flow);
  }
}

function decideAnswer(flow: WhatsAppCallFlow): CallDecision {
  if (isAnswered(flow)) return withEffects(flow);
  return transition(flow, "accept", stop("ack"), emit({ type: "answered" }), start("media", MEDIA_MS));
}

function decideConnection(flow: WhatsAppCallFlow): CallDecision {
  const answerDecision = decideAnswer(flow);
  const connectDecision = transition(
    answerDecision.flow,
    "connect",
    stop("media"),
    { do: "start_audio" },
    start("inbound", INBOUND_MS),
  );
  return withEffects(connectDecision.flow, ...answerDecision.effects, ...connectDecision.effects);
}

function decideHold(flow: WhatsAppCallFlow, onHold: boolean): CallDecision {
  if (flow.state !== "active" || flow.onHold === onHold) return withEffects(flow);
  const fact = { event: onHold ? "held" : "resumed", data: {} } as const;
  return withEffects({ ...flow, onHold }, { do: "hold_audio", onHold }, emit({ type: "noted", fact }));
}

function decideTimer(flow: WhatsAppCallFlow, name: CallTimer, quietMs: number): CallDecision {
  switch (name) {
    case "ack":
      return flow.state === "offered" ? endCall(flow, unacknowledgedEnd(ACK_MS)) : withEffects(flow);
    case "busy":
      return isOnlyPhoneBusy(flow.devices) && !isAnswered(flow) ? endCall(flow, BUSY) : withEffects(flow);
    case "media":
      return flow.state === "accepted" ? endCall(flow, noMediaEnd(MEDIA_MS)) : withEffects(flow);
    case "line": {
      if (flow.lossReason === undefined) return withEffects(flow);
      const lostMs = flow.lostMs + LINE_CHECK_MS;
      const isFlowing = flow.state === "active" && quietMs <= FLOWING_MS && lostMs < LINE_LIMIT_MS;
      if (isFlowing) return withEffects({ ...flow, lostMs }, start("line", LINE_CHECK_MS));
      return endCall(flow, lineLostEnd(flow.lossReason));
    }
    case "inbound":
      return flow.state === "active" ? decideSilence(flow, quietMs) : withEffects(flow);
    default:
      return withEffects(flow);
  }
}

/** The core itself detects that no audio has arrived since the answer. */
function decideSilence(flow: WhatsAppCallFlow, quietMs: number): CallDecision {
  if (quietMs < INBOUND_MS) return withEffects(flow, start("inbound", INBOUND_MS - quietMs));
  if (quietMs === Infinity || flow.onHold) return withEffects(flow, start("inbound", INBOUND_MS));
  const fact = { event: "media.inbound_silent", data: { after_ms: INBOUND_MS } } as const;
  // Reported once for each silence: the next check looks at the audio after it.
  return withEffects(
    flow,
    ...(quietMs < 2 * INBOUND_MS ? [emit({ type: "noted", fact })] : []),
    start("inbound", INBOUND_MS),
  );
}

/** Hangs up after the client's buffered audio has been sent. */
function decideDraining(flow: WhatsAppCallFlow, input: CallInput): CallDecision {
  const hasEnded =
    isSessionEnd(input) || input.type === "client_ended" || (input.type === "line_restored" && !input.hasCall);
  if (hasEnded) return conclude(flow);
  if (input.type === "stanza" && input.stanza.type === "terminate")
    return transition(flow, "leave", start("leave", LEAVE_MS));
  const mustEnd = input.type === "fault" || input.type === "line_ending";
  const mustEndNow = mustEnd || input.type === "drained" || (input.type === "timer" && input.timer === "drain");
  return mustEndNow ? endCall(flow, RELEASED) : withEffects(flow);
}

/** True for the permanent end of the session, which also ends the call. */
function isSessionEnd(input: CallInput): boolean {
  return input.type === "line_lost" && input.isPermanent;
}

/** Ends a call that the client still has. */
function endCall(flow: WhatsAppCallFlow, end: CallEnd, move: "end" | "repeat" = "end"): CallDecision {
  const withEnd = { ...flow, end: flow.end ?? end };
  return transition(withEnd, move, { do: "end_call" });
}

/** Handles a call that the network has ended unnoticed by the client, which then drops it if it can. */
function endUnnoticed(flow: WhatsAppCallFlow): CallDecision {
  const conclusion = conclude(flow);
  return withEffects(conclusion.flow, { do: "end_call" }, ...conclusion.effects);
}

function conclude(flow: WhatsAppCallFlow, end?: CallEnd): CallDecision {
  const decidedEnd = flow.end ?? end ?? RELEASED;
  return transition({ ...flow, end: decidedEnd }, "conclude", { do: "conclude", end: decidedEnd });
}

/** True if the network or one of the callee's devices has the offer: unlike a refusal, such a stanza names the call. */
function showsOffer(input: CallInput): boolean {
  return input.type === "stanza" && input.stanza.type !== "offer_refused";
}

function isAnswered({ state }: WhatsAppCallFlow): boolean {
  return state === "accepted" || state === "active";
}

/**
 * The core places a call again if it ends with `line_lost` before it was placed, so only a call that rang nowhere may
 * end in this way.
 */
function transition(flow: WhatsAppCallFlow, move: WhatsAppCallMove, ...effects: WhatsAppCallEffect[]): CallDecision {
  const state = nextState(CALL_MOVES, flow.state, move);
  if (state === undefined) return withEffects(flow);
  const isPlaced = flow.isPlaced || (flow.state === "offered" && move !== "repeat");
  return withEffects(
    { ...flow, state, isPlaced },
    ...(isPlaced && !flow.isPlaced ? [emit({ type: "placed" })] : []),
    ...effects,
  );
}

function withEffects(flow: WhatsAppCallFlow, ...effects: WhatsAppCallEffect[]): CallDecision {
  return { flow, effects };
}

function emit(event: LegEvent): WhatsAppCallEffect {
  return { do: "emit", event };
}

function start(timer: CallTimer, ms: number): WhatsAppCallEffect {
  return { do: "start_timer", timer, ms };
}

function stop(timer: CallTimer): WhatsAppCallEffect {
  return { do: "stop_timer", timer };
}
