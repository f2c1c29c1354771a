import type { CallInput } from "./call.ts";
import type { EventData, EventType } from "./events.ts";
import type { CompletedReason, FailedReason } from "./outcome.ts";
import type { ReleaseCause } from "./release-cause.ts";
import type { Timings } from "./timings.ts";

/**
 * The course of one live call, decided by a pure function: a state and a signal give the next state and what is to
 * be done. The call session carries the effects out and holds no rule of its own.
 */
export interface CallFlow {
  readonly phase: "dialing" | "ringing" | "answered" | "talking" | "over";
  /** Inbound audio has come. */
  readonly inbound: boolean;
  /** Length of the message, ms; 0 until it is ready. */
  readonly messageMs: number;
  /** The message has been played to its end, tail included. */
  readonly played: boolean;
  /** The time for the first inbound audio is over, and none has come. */
  readonly silent: boolean;
  /** The line is offline at the moment. */
  readonly lineDown: boolean;
  /** A client is attached to the stream of the call. */
  readonly attached: boolean;
}

export const NEW_FLOW: CallFlow = {
  phase: "dialing",
  inbound: false,
  messageMs: 0,
  played: false,
  silent: false,
  lineDown: false,
  attached: false,
};

export type TimerName = "ring" | "setup" | "inbound" | "duration" | "line" | "stream";

export type CallSignal =
  | { readonly type: "placed" }
  | { readonly type: "alerting" }
  | { readonly type: "answered" }
  | { readonly type: "connected" }
  | { readonly type: "leg_ended"; readonly cause: ReleaseCause; readonly detail: string | null }
  | { readonly type: "media_lost"; readonly detail: string }
  | { readonly type: "inbound_audio" }
  /** Something shows for the first time that the callee's side receives our audio. */
  | { readonly type: "evidence" }
  /** The whole message is ready to be played; its length, ms. */
  | { readonly type: "message_ready"; readonly messageMs: number }
  | { readonly type: "message_failed"; readonly reason: FailedReason; readonly detail: string }
  | { readonly type: "message_played" }
  /** A client has attached itself to the stream, or has gone without a goodbye. */
  | { readonly type: "stream_attached" }
  | { readonly type: "stream_detached" }
  /** The client has ended the call, and what it had sent has been played. */
  | { readonly type: "stream_closed" }
  | { readonly type: "noticed"; readonly event: EventType; readonly data: EventData }
  /** The line reported, or a probe said so. */
  | { readonly type: "line_down"; readonly reason: string }
  /** `inboundSince`: inbound audio has come since the line went down. */
  | { readonly type: "line_up"; readonly inboundSince: boolean }
  /** `inboundSince`: inbound audio has come since the timer was set. */
  | { readonly type: "timer"; readonly name: TimerName; readonly inboundSince: boolean }
  | { readonly type: "end"; readonly reason: FailedReason; readonly detail: string | null };

export type CallEffect =
  /** Write the move of the call's table, with its event. */
  | { readonly do: "move"; readonly input: Extract<CallInput, "place" | "connect"> }
  /** Write the final state; follows exactly once in the life of a call. */
  | {
      readonly do: "conclude";
      readonly input: Extract<CallInput, "complete" | "fail">;
      readonly reason: CompletedReason | FailedReason;
      readonly detail: string | null;
    }
  /** Nobody was asked yet: let the call wait again. */
  | { readonly do: "requeue" }
  | { readonly do: "hang_up" }
  | { readonly do: "timer"; readonly name: TimerName; readonly ms: number }
  | { readonly do: "cancel"; readonly name: TimerName }
  | { readonly do: "note"; readonly event: EventType; readonly data: EventData };

/** What the rules depend on besides the state. */
export interface FlowRules {
  readonly timings: Timings;
  /** Inbound audio must come: its absence means that media failed. */
  readonly expectsInboundAudio: boolean;
  /** A client outside carries the audio: without one the call has nothing to say. */
  readonly streamed: boolean;
}

export interface Decision {
  readonly flow: CallFlow;
  readonly effects: readonly CallEffect[];
}

/** What is done when the dialling begins. */
export function beginFlow(rules: FlowRules): Decision {
  return { flow: NEW_FLOW, effects: [{ do: "timer", name: "ring", ms: rules.timings.ringTimeoutMs }] };
}

/**
 * Decides what a signal means. After the end every signal means nothing.
 * @param unproven nothing shows that the callee's side received our audio, and something had to
 */
export function decide(flow: CallFlow, signal: CallSignal, rules: FlowRules, unproven = false): Decision {
  if (flow.phase === "over") return { flow, effects: [] };
  const decision = meaningOf(flow, signal, rules, unproven);
  return unproven ? withoutProof(decision) : decision;
}

function meaningOf(flow: CallFlow, signal: CallSignal, rules: FlowRules, unproven: boolean): Decision {
  switch (signal.type) {
    case "placed":
      if (flow.phase !== "dialing") return stay(flow);
      return placed(flow, rules);
    case "alerting":
      return flow.phase === "ringing" ? to(flow, [{ do: "note", event: "alerting", data: {} }]) : stay(flow);
    case "answered":
      return flow.phase === "ringing" ? answered(flow, rules) : stay(flow);
    case "connected":
      return connected(flow, rules, unproven);
    case "leg_ended":
      return legEnded(flow, signal.cause, signal.detail);
    case "media_lost":
      return fail(flow, "media_failed", signal.detail);
    case "inbound_audio":
      if (flow.played && flow.phase === "talking") return complete(flow, "message_played", null);
      return to({ ...flow, inbound: true }, [{ do: "cancel", name: "inbound" }]);
    case "evidence":
      return flow.played ? messagePlayed(flow, rules, unproven) : stay(flow);
    case "message_ready":
      return messageReady(flow, signal.messageMs, rules);
    case "message_failed":
      return fail(flow, signal.reason, signal.detail);
    case "message_played":
      return messagePlayed(flow, rules, unproven);
    case "stream_attached":
      return to({ ...flow, attached: true }, [{ do: "cancel", name: "stream" }]);
    case "stream_detached":
      return to({ ...flow, attached: false }, flow.phase === "talking" ? [streamTimer(rules)] : []);
    case "stream_closed":
      if (flow.phase === "talking") return complete(flow, "stream_closed", null);
      return fail(flow, "terminated", CLOSED_BEFORE_ANSWER);
    case "noticed":
      return to(flow, [{ do: "note", event: signal.event, data: signal.data }]);
    case "line_down":
      if (flow.lineDown) return stay(flow);
      // Before anybody was asked the dial itself will say so, and the call waits again.
      return to({ ...flow, lineDown: true }, flow.phase === "dialing" ? [] : [lineTimer(rules)]);
    case "line_up":
      if (!flow.lineDown) return stay(flow);
      if (flow.phase === "dialing") return to({ ...flow, lineDown: false }, []);
      // A leg does not outlive a line that was gone, unless its audio never stopped.
      if (!signal.inboundSince) return fail(flow, "instance_lost", WITHOUT_CALL);
      // The audio may have been the last frame on its way, so it is looked at once more.
      return to({ ...flow, lineDown: false }, [lineTimer(rules)]);
    case "timer":
      return timer(flow, signal.name, signal.inboundSince, rules);
    case "end":
      return fail(flow, signal.reason, signal.detail);
  }
}

function placed(flow: CallFlow, rules: FlowRules): Decision {
  const effects: CallEffect[] = [
    { do: "move", input: "place" },
    { do: "timer", name: "ring", ms: rules.timings.ringTimeoutMs },
  ];
  if (flow.lineDown) effects.push(lineTimer(rules));
  return to({ ...flow, phase: "ringing" }, effects);
}

function answered(flow: CallFlow, rules: FlowRules): Decision {
  return to({ ...flow, phase: "answered" }, [
    { do: "cancel", name: "ring" },
    { do: "timer", name: "setup", ms: rules.timings.mediaSetupMs },
  ]);
}

function connected(flow: CallFlow, rules: FlowRules, unproven: boolean): Decision {
  if (flow.phase !== "answered" && flow.phase !== "ringing") return stay(flow);
  const effects: CallEffect[] = [
    { do: "move", input: "connect" },
    { do: "cancel", name: "ring" },
    { do: "cancel", name: "setup" },
    // Counted from the end of the message, which begins now where it is ready.
    { do: "timer", name: "duration", ms: flow.messageMs + rules.timings.maxDurationMs },
  ];
  if (!flow.inbound) effects.push({ do: "timer", name: "inbound", ms: rules.timings.mediaTimeoutMs });
  if (rules.streamed && !flow.attached) effects.push(streamTimer(rules));
  const talking: CallFlow = { ...flow, phase: "talking" };
  if (!flow.played) return to(talking, effects);
  const played = messagePlayed(talking, rules, unproven);
  return to(played.flow, [...effects, ...played.effects]);
}

function messageReady(flow: CallFlow, messageMs: number, rules: FlowRules): Decision {
  const note: CallEffect = { do: "note", event: "message_ready", data: { message_ms: messageMs } };
  const ready: CallFlow = { ...flow, messageMs };
  if (flow.phase !== "talking") return to(ready, [note]);
  return to(ready, [note, { do: "timer", name: "duration", ms: messageMs + rules.timings.maxDurationMs }]);
}

function messagePlayed(flow: CallFlow, rules: FlowRules, unproven: boolean): Decision {
  // Where audio must come and none has, nobody can say that the message was heard: the watchdog decides. A message
  // shorter than the network's report of the connection waits for that.
  const waits = !flow.inbound && (rules.expectsInboundAudio || (unproven && !flow.silent));
  if (flow.phase !== "talking" || waits) return to({ ...flow, played: true }, []);
  return complete(flow, "message_played", null);
}

function legEnded(flow: CallFlow, cause: ReleaseCause, detail: string | null): Decision {
  if (flow.phase === "talking" && cause === "callee_hung_up") return complete(flow, "callee_hung_up", detail);
  if (flow.phase === "dialing" && cause === "line_lost") return over(flow, [{ do: "requeue" }]);
  return fail(flow, failureOf(cause, flow), detail);
}

const FAILURES: Readonly<Record<ReleaseCause, FailedReason>> = {
  callee_hung_up: "declined",
  released: "internal_error",
  busy: "busy",
  declined: "declined",
  no_answer: "no_answer",
  unreachable: "unreachable",
  number_invalid: "number_invalid",
  rejected_by_network: "rejected_by_network",
  media_failed: "media_failed",
  line_lost: "instance_lost",
  internal_error: "internal_error",
};

function failureOf(cause: ReleaseCause, flow: CallFlow): FailedReason {
  // Accepted and gone before our audio path was up: nobody declined, nobody heard anything.
  if (cause === "callee_hung_up" && flow.phase === "answered") return "media_failed";
  return FAILURES[cause];
}

function timer(flow: CallFlow, name: TimerName, inboundSince: boolean, rules: FlowRules): Decision {
  switch (name) {
    case "ring":
      if (flow.phase === "ringing") return fail(flow, "no_answer", null);
      return flow.phase === "dialing" ? fail(flow, "unreachable", "the network did not take the call") : stay(flow);
    case "setup":
      return flow.phase === "answered" ? fail(flow, "media_failed", "the audio path did not come up") : stay(flow);
    case "inbound": {
      if (flow.inbound || flow.phase !== "talking") return stay(flow);
      const silent: CallEffect = {
        do: "note",
        event: "media.inbound_silent",
        data: { after_ms: rules.timings.mediaTimeoutMs },
      };
      if (!rules.expectsInboundAudio && !flow.played) return to({ ...flow, silent: true }, [silent]);
      const ended = rules.expectsInboundAudio
        ? fail(flow, "media_failed", "no audio came from the far end")
        : complete(flow, "message_played", null);
      return { flow: ended.flow, effects: [silent, ...ended.effects] };
    }
    case "duration":
      return flow.phase === "talking" ? complete(flow, "max_duration", null) : stay(flow);
    case "stream":
      if (flow.attached || flow.phase !== "talking") return stay(flow);
      return fail(flow, "stream_lost", `no client was attached to the stream for ${rules.timings.streamAttachMs} ms`);
    case "line":
      if (inboundSince) return flow.lineDown ? to(flow, [lineTimer(rules)]) : stay(flow);
      return flow.lineDown
        ? fail(flow, "instance_lost", "the instance's line went offline during the call")
        : fail(flow, "instance_lost", WITHOUT_CALL);
  }
}

/** Why a call failed that would have been completed; a sentence for a person. */
export const NO_EVIDENCE = "neither audio nor RTCP came from the far side, so nothing shows that it received ours";

/** Nobody can say that anything was heard: what would be completed has failed. */
function withoutProof({ flow, effects }: Decision): Decision {
  return {
    flow,
    effects: effects.map((effect) =>
      effect.do === "conclude" && effect.input === "complete"
        ? {
            do: "conclude",
            input: "fail",
            reason: "media_failed",
            detail: effect.detail === null ? NO_EVIDENCE : `${NO_EVIDENCE}; ${effect.detail}`,
          }
        : effect,
    ),
  };
}

/** Why a call failed whose stream was closed too early; a sentence for a person. */
export const CLOSED_BEFORE_ANSWER = "the stream's client ended the call before the callee was connected";

const WITHOUT_CALL = "the line came back without this call";

function lineTimer(rules: FlowRules): CallEffect {
  return { do: "timer", name: "line", ms: rules.timings.lineLossMs };
}

function streamTimer(rules: FlowRules): CallEffect {
  return { do: "timer", name: "stream", ms: rules.timings.streamAttachMs };
}

function stay(flow: CallFlow): Decision {
  return { flow, effects: [] };
}

function to(flow: CallFlow, effects: readonly CallEffect[]): Decision {
  return { flow, effects };
}

function complete(flow: CallFlow, reason: CompletedReason, detail: string | null): Decision {
  return over(flow, [{ do: "hang_up" }, { do: "conclude", input: "complete", reason, detail }]);
}

function fail(flow: CallFlow, reason: FailedReason, detail: string | null): Decision {
  return over(flow, [{ do: "hang_up" }, { do: "conclude", input: "fail", reason, detail }]);
}

function over(flow: CallFlow, effects: readonly CallEffect[]): Decision {
  return { flow: { ...flow, phase: "over" }, effects };
}
