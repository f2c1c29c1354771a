import { nextState, type Transitions } from "../../base/state-machine.ts";
import { ANALYSIS_MS, type AnswerVerdict, type GreetingEnd } from "../answering/answering-machine.ts";
import {
  awaitsVerdict,
  awaitTone,
  awaitVerdict,
  awaitVoicemail,
  awaitWords,
  endGreeting,
  leaveVoicemail,
  type MachineFlow,
  type MachineRules,
  noteTone,
  recordVerdict,
} from "../answering/machine-flow.ts";
import { awaitPerson, NO_PERSON, personAnswered } from "../answering/person-wait.ts";
import { introductionOf } from "../answering/screening-policy.ts";
import type { Fact } from "../events.ts";
import type { Timings } from "../timings.ts";
import { TONE_MEANINGS, type ToneFinding, toneText } from "../tones/line-tones.ts";
import type { CallEffect, CallSignal } from "./call-signal.ts";
import type { DialProgress } from "./dial-progress.ts";
import {
  cancelStart,
  onExtensionDialled,
  onFirstWord,
  type StartFlow,
  type StartRules,
  startAnyway,
  startConnected,
} from "./message-start.ts";
import type { CompletedReason, FailedReason } from "./outcome.ts";
import { RELEASE_FAILURES, type RefusalScope, type ReleaseCause } from "./release-cause.ts";

/** The phases of a live call, in the order of a successful call. */
export const CALL_PHASES = ["dialing", "ringing", "answered", "talking", "over"] as const;
export type CallPhase = (typeof CALL_PHASES)[number];

/** Inputs of a live call. */
export type PhaseMove = "place" | "answer" | "connect" | "requeue" | "complete" | "fail";

/** Every legal move of a live call. */
export const PHASE_TRANSITIONS: Transitions<CallPhase, PhaseMove> = {
  dialing: { place: "ringing", requeue: "over", fail: "over" },
  ringing: { answer: "answered", connect: "talking", fail: "over" },
  answered: { connect: "talking", fail: "over" },
  talking: { complete: "over", fail: "over" },
  over: {},
};

/**
 * The state of one live call, decided by a pure function: a state and a signal determine the next state and the
 * effects. The call session carries out the effects and contains no rules.
 */
export interface CallFlow extends MachineFlow, StartFlow {
  readonly phase: CallPhase;
  /**
   * True if the network has reported that someone could answer: the phone rings, or audio arrives before the answer.
   */
  readonly isReached: boolean;
  /** True if inbound audio has arrived. */
  readonly hasInbound: boolean;
  /** Length of the message, ms; 0 until it is ready. */
  readonly messageMs: number;
  /** True if no inbound audio has arrived within its time limit. */
  readonly isSilent: boolean;
  /** True if the line is offline at the moment. */
  readonly isLineDown: boolean;
  /** True if a client is attached to the stream of the call. */
  readonly isAttached: boolean;
}

export const NEW_FLOW: CallFlow = {
  phase: "dialing",
  isReached: false,
  hasInbound: false,
  messageMs: 0,
  isPlayed: false,
  isSilent: false,
  isLineDown: false,
  isAttached: false,
  answeredBy: undefined,
  voicemail: undefined,
  isSuspected: false,
  awaitedPerson: undefined,
  awaitsWords: false,
  start: "ready",
};

/** Dependencies of the rules besides the state. */
export interface FlowRules extends MachineRules {
  readonly timings: Timings;
  /** True if inbound audio must arrive, because its absence means that media failed. */
  readonly expectsInboundAudio: boolean;
  /** True if an attached client carries the audio; the call ends without a client. */
  readonly isStreamed: boolean;
  /** Reason for the end of a call once its audio has been played. */
  readonly playedReason: "message_played" | "agent_finished";
  /** True if the call has a fixed message, which can restart. */
  readonly hasFixedMessage: boolean;
  /** The steps before the audio of the call. */
  readonly start: StartRules;
}

export interface Decision {
  readonly flow: CallFlow;
  readonly effects: readonly CallEffect[];
}

/** The effects at the start of dialling. */
export function beginFlow(rules: FlowRules): Decision {
  return { flow: NEW_FLOW, effects: [{ do: "timer", name: "ring", ms: rules.timings.ringTimeoutMs }] };
}

/**
 * Decides the next state and the effects of a signal. After the end, signals have no effect.
 * @param missingProof reason why there is no evidence, although it is required, that the callee's side received our
 *   audio
 */
export function decide(flow: CallFlow, signal: CallSignal, rules: FlowRules, missingProof?: string): Decision {
  if (flow.phase === "over") return { flow, effects: [] };
  const decision = decisionFor(flow, signal, rules, missingProof !== undefined);
  // A normal hang-up is an action of the callee.
  const isHangUp = signal.type === "leg_ended" && signal.fault !== true;
  return missingProof === undefined || isHangUp ? decision : withoutProof(decision, missingProof);
}

function decisionFor(flow: CallFlow, signal: CallSignal, rules: FlowRules, isUnproven: boolean): Decision {
  switch (signal.type) {
    case "placed":
      return onPlaced(flow, rules);
    case "alerting":
      return flow.phase === "ringing" ? noteFact(flow, { event: "alerting", data: {} }) : stay(flow);
    case "answered":
      return onAnswered(flow, rules);
    case "connected":
      return onConnected(flow, rules, isUnproven);
    case "leg_ended":
      return onLegEnded(flow, signal);
    case "media_lost":
      return fail(flow, "media_failed", signal.detail);
    case "inbound_audio":
      if (flow.isPlayed && flow.phase === "talking")
        return onMessagePlayed({ ...flow, hasInbound: true }, rules, isUnproven);
      return decisionOf({ ...flow, hasInbound: true }, [{ do: "cancel", name: "inbound" }]);
    case "evidence":
      return flow.isPlayed ? onMessagePlayed(flow, rules, isUnproven) : stay(flow);
    case "message_ready":
      return onMessageReady(flow, signal.messageMs, rules);
    case "message_failed":
      return fail(flow, signal.reason, signal.detail);
    case "message_played":
      return onMessagePlayed(flow, rules, isUnproven, signal.detail ?? null);
    case "transferred":
      return onTransferred(flow, signal.to, signal.detail, rules);
    case "stream_attached":
      return decisionOf({ ...flow, isAttached: true }, [{ do: "cancel", name: "stream" }]);
    case "stream_detached":
      return decisionOf({ ...flow, isAttached: false }, flow.phase === "talking" ? [streamTimer(rules)] : []);
    case "stream_closed":
      if (flow.phase === "talking") return complete(flow, "stream_closed", null);
      return fail(flow, "terminated", CLOSED_BEFORE_ANSWER);
    case "answered_by":
      return onVerdict(flow, signal.verdict, rules, isUnproven);
    case "line_tone":
      return onLineTone(flow, signal.finding, signal.verdict, rules);
    case "tone_suspected":
      return onSuspicion({ ...flow, isSuspected: signal.isSuspected }, rules, isUnproven);
    case "person_came":
      return flow.phase === "talking"
        ? personAnswered(flow, signal.verdict, flow.messageMs + rules.timings.maxDurationMs)
        : stay(flow);
    case "leave_voicemail":
      return flow.phase === "talking" ? leaveVoicemail(flow, signal.atMs) : stay(flow);
    case "greeting_over":
      return leaveMessage(flow, signal.end, rules);
    case "extension_dialled":
      return onExtensionDialled(flow, signal.inBand, rules.start, durationMs(flow, rules));
    case "first_word":
      return onFirstWord(flow, signal.hasEnded, rules.start, durationMs(flow, rules));
    case "noticed":
      return noteFact(flow, signal.fact);
    case "line_down":
      if (flow.isLineDown) return stay(flow);
      // Before the network is asked, the dial itself reports the lost line, and the call waits again.
      return decisionOf({ ...flow, isLineDown: true }, flow.phase === "dialing" ? [] : [lineTimer(rules)]);
    case "line_up":
      if (!flow.isLineDown) return stay(flow);
      if (flow.phase === "dialing") return decisionOf({ ...flow, isLineDown: false }, []);
      // A leg does not survive the loss of its line, unless its audio never stopped.
      if (!signal.inboundSince) return fail(flow, "instance_lost", WITHOUT_CALL);
      // The audio may have been the last frame on its way, so the timer checks once more.
      return decisionOf({ ...flow, isLineDown: false }, [lineTimer(rules)]);
    case "timer":
      return onTimer(flow, signal, rules);
    case "end":
      return fail(flow, signal.reason, signal.detail);
  }
}

function onPlaced(flow: CallFlow, rules: FlowRules): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "place");
  if (phase === undefined) return stay(flow);
  const effects: CallEffect[] = [
    { do: "move", input: "place" },
    { do: "timer", name: "ring", ms: rules.timings.ringTimeoutMs },
  ];
  if (flow.isLineDown) effects.push(lineTimer(rules));
  return decisionOf({ ...flow, phase }, effects);
}

function onAnswered(flow: CallFlow, rules: FlowRules): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "answer");
  if (phase === undefined) return stay(flow);
  return decisionOf({ ...flow, phase }, [
    { do: "cancel", name: "ring" },
    { do: "timer", name: "setup", ms: rules.timings.mediaSetupMs },
  ]);
}

function onConnected(flow: CallFlow, rules: FlowRules, isUnproven: boolean): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "connect");
  if (phase === undefined) return stay(flow);
  const effects: CallEffect[] = [
    { do: "move", input: "connect" },
    { do: "cancel", name: "ring" },
    { do: "cancel", name: "setup" },
    // Counted from the end of the message, which starts now if it is ready.
    { do: "timer", name: "duration", ms: durationMs(flow, rules) },
  ];
  if (!flow.hasInbound) effects.push({ do: "timer", name: "inbound", ms: rules.timings.mediaTimeoutMs });
  if (rules.isStreamed && !flow.isAttached) effects.push(streamTimer(rules));
  const startDecision = startConnected({ ...flow, phase }, rules.start, durationMs(flow, rules));
  effects.push(...startDecision.effects);
  if (!flow.isPlayed) return decisionOf(startDecision.flow, effects);
  const playedDecision = onMessagePlayed(startDecision.flow, rules, isUnproven);
  return decisionOf(playedDecision.flow, [...effects, ...playedDecision.effects]);
}

function onMessageReady(flow: CallFlow, messageMs: number, rules: FlowRules): Decision {
  const note: CallEffect = { do: "note", fact: { event: "message_ready", data: { message_ms: messageMs } } };
  const readyFlow: CallFlow = { ...flow, messageMs };
  if (flow.phase !== "talking") return decisionOf(readyFlow, [note]);
  return decisionOf(readyFlow, [note, { do: "timer", name: "duration", ms: durationMs(readyFlow, rules) }]);
}

function onVerdict(flow: CallFlow, verdict: AnswerVerdict, rules: FlowRules, isUnproven: boolean): Decision {
  const verdictDecision = recordVerdict(flow, verdict);
  if (flow.phase !== "talking") return verdictDecision;
  const wordsDecision = awaitWords(verdictDecision.flow, rules);
  const next = afterVerdict(wordsDecision.flow, rules, isUnproven);
  return decisionOf(next.flow, [...verdictDecision.effects, ...wordsDecision.effects, ...next.effects]);
}

function afterVerdict(flow: CallFlow, rules: FlowRules, isUnproven: boolean): Decision {
  if (flow.answeredBy === "machine" && rules.onMachine === "hang_up") return complete(flow, "machine_hung_up", null);
  if (flow.answeredBy === "machine" && rules.onMachine === "leave_message") return withoutStart(awaitVoicemail(flow));
  if (flow.answeredBy === "screening" && rules.onScreening === "hang_up")
    return complete(flow, "machine_hung_up", "a call-screening assistant answered");
  if (flow.answeredBy === "screening" && introductionOf(rules.onScreening))
    return withoutStart(awaitPerson(flow, "screening"));
  // The assistant has passed the call on to a voicemail box, which gets the message as a person would.
  if (flow.answeredBy === "machine" && flow.awaitedPerson === "screening")
    return personAnswered(flow, undefined, durationMs(flow, rules));
  return flow.isPlayed ? onMessagePlayed(flow, rules, isUnproven) : stay(flow);
}

/** Cancels the steps before the message, which now waits only for a machine or a person. */
function withoutStart({ flow, effects }: Decision): Decision {
  const next = cancelStart(flow);
  return decisionOf(next.flow, [...next.effects, ...effects]);
}

/** Handles a line tone. No person follows a fax machine or a busy tone: the call ends, unless a program conducts it. */
function onLineTone(
  flow: CallFlow,
  finding: ToneFinding,
  verdict: AnswerVerdict | undefined,
  rules: FlowRules,
): Decision {
  const verdictDecision = verdict ? recordVerdict(flow, verdict) : stay(flow);
  const notes: readonly CallEffect[] = [noteTone(finding), ...verdictDecision.effects];
  const { endsCall, followsPerson } = TONE_MEANINGS[finding.tone];
  if (finding.tone === "ringback" && canAwaitPerson(verdictDecision.flow, finding, rules)) {
    const waitDecision = withoutStart(awaitPerson(verdictDecision.flow, "ringing"));
    return decisionOf(waitDecision.flow, [...notes, ...waitDecision.effects]);
  }
  // A switchboard may offer a dial tone for the extension.
  const isContinued = rules.isStreamed || (flow.start === "extension" && finding.tone === "continuous");
  if (!endsCall || isContinued || flow.phase !== "talking") return decisionOf(verdictDecision.flow, notes);
  const detail = toneText(finding);
  const endDecision =
    followsPerson && verdictDecision.flow.answeredBy === "human"
      ? complete(verdictDecision.flow, "callee_hung_up", detail)
      : complete(verdictDecision.flow, "machine_hung_up", detail, [{ do: "discard_message" }]);
  return decisionOf(endDecision.flow, [...notes, ...endDecision.effects]);
}

/** True if the message can restart once a person answers the phone that rings behind a switchboard. */
function canAwaitPerson(
  { phase, start, voicemail }: CallFlow,
  { atMs }: ToneFinding,
  { hasFixedMessage }: FlowRules,
): boolean {
  return (
    phase === "talking" && start !== "extension" && hasFixedMessage && voicemail === undefined && atMs <= ANALYSIS_MS
  );
}

function onSuspicion(flow: CallFlow, rules: FlowRules, isUnproven: boolean): Decision {
  return flow.isSuspected || !flow.isPlayed ? stay(flow) : onMessagePlayed(flow, rules, isUnproven);
}

function leaveMessage(flow: CallFlow, end: GreetingEnd, rules: FlowRules): Decision {
  if (flow.phase !== "talking") return stay(flow);
  return endGreeting(flow, end, durationMs(flow, rules));
}

/** Maximum remaining duration of the call, counted from the end of the message, ms. */
function durationMs({ messageMs }: CallFlow, { timings }: FlowRules): number {
  return messageMs + timings.maxDurationMs;
}

function onMessagePlayed(
  flow: CallFlow,
  rules: FlowRules,
  isUnproven: boolean,
  detail: string | null = null,
): Decision {
  if (flow.voicemail === "waiting" || flow.awaitedPerson !== undefined) return stay(flow);
  if (flow.awaitsWords) return decisionOf({ ...flow, isPlayed: true }, []);
  // If required audio has not arrived, it is unknown whether the callee heard the message: the inbound timer decides.
  // A message that is shorter than the time to the connection waits for the connection.
  const isWaiting = !flow.hasInbound && (rules.expectsInboundAudio || (isUnproven && !flow.isSilent));
  if (flow.phase !== "talking" || isWaiting) return decisionOf({ ...flow, isPlayed: true }, []);
  if (awaitsVerdict(flow, rules)) return awaitVerdict(flow);
  if (flow.isSuspected && !rules.isStreamed) return awaitTone(flow);
  return complete(flow, rules.playedReason, detail);
}

function onTransferred(flow: CallFlow, phone: string, detail: string | null, rules: FlowRules): Decision {
  if (flow.phase !== "talking") return stay(flow);
  const suffix = detail === null ? "" : `: ${detail}`;
  const endDecision = complete(flow, rules.playedReason, `transferred to ${phone}${suffix}`);
  const note: CallEffect = { do: "note", fact: { event: "transferred", data: { to: phone, detail } } };
  return { flow: endDecision.flow, effects: [note, ...endDecision.effects] };
}

function onLegEnded(flow: CallFlow, { cause, detail, refusal }: Extract<CallSignal, { type: "leg_ended" }>): Decision {
  if (flow.phase === "talking" && cause === "callee_hung_up") return complete(flow, "callee_hung_up", detail);
  if (flow.phase === "dialing" && cause === "line_lost") return endFlow(flow, "requeue", [{ do: "requeue" }]);
  return fail(flow, failureOf(cause, flow), detail, refusal);
}

function failureOf(cause: ReleaseCause, flow: CallFlow): FailedReason {
  // Accepted and ended before our audio path was up: the call was not declined, and the callee heard nothing.
  if (cause === "callee_hung_up" && flow.phase === "answered") return "media_failed";
  return RELEASE_FAILURES[cause];
}

/** Facts that show that someone could answer. */
const REACHED_EVENTS: ReadonlySet<Fact["event"]> = new Set<Fact["event"]>(["alerting", "early_media"]);

function noteFact(flow: CallFlow, fact: Fact): Decision {
  const isReached = flow.isReached || REACHED_EVENTS.has(fact.event);
  return decisionOf(isReached === flow.isReached ? flow : { ...flow, isReached }, [{ do: "note", fact }]);
}

/**
 * Handles the end of the ring timeout: without evidence that someone could have answered, the callee was not reached.
 */
function onRingTimeout(flow: CallFlow, progress: DialProgress | undefined, { timings }: FlowRules): Decision {
  if (flow.isReached || progress?.reached) return fail(flow, "no_answer", null);
  return fail(flow, "unreachable", `${progress?.detail ?? NO_RINGING} within ${timings.ringTimeoutMs / 1_000} s`);
}

const NO_RINGING = "the network took the call, but reported no ringing";

function onTimer(flow: CallFlow, signal: Extract<CallSignal, { type: "timer" }>, rules: FlowRules): Decision {
  const { name, inboundSince } = signal;
  switch (name) {
    case "ring":
      if (flow.phase === "ringing") return onRingTimeout(flow, signal.progress, rules);
      return flow.phase === "dialing" ? fail(flow, "unreachable", "the network did not take the call") : stay(flow);
    case "setup":
      return flow.phase === "answered" ? fail(flow, "media_failed", "the audio path did not come up") : stay(flow);
    case "inbound": {
      if (flow.hasInbound || flow.phase !== "talking") return stay(flow);
      const silenceNote: CallEffect = {
        do: "note",
        fact: { event: "media.inbound_silent", data: { after_ms: rules.timings.mediaTimeoutMs } },
      };
      if (!rules.expectsInboundAudio && !flow.isPlayed) return decisionOf({ ...flow, isSilent: true }, [silenceNote]);
      const endDecision = rules.expectsInboundAudio
        ? fail(flow, "media_failed", "no audio came from the peer")
        : complete(flow, rules.playedReason, null);
      return { flow: endDecision.flow, effects: [silenceNote, ...endDecision.effects] };
    }
    case "duration":
      return flow.phase === "talking" ? complete(flow, "max_duration", null) : stay(flow);
    case "stream":
      if (flow.isAttached || flow.phase !== "talking") return stay(flow);
      return fail(flow, "stream_lost", `no client was attached to the stream for ${rules.timings.streamAttachMs} ms`);
    case "machine":
      if (flow.voicemail === "waiting") return leaveMessage(flow, "timeout", rules);
      if (flow.awaitedPerson !== undefined)
        return complete(flow, "machine_hung_up", NO_PERSON[flow.awaitedPerson], [{ do: "discard_message" }]);
      if (flow.isPlayed && flow.phase === "talking") return complete(flow, rules.playedReason, null);
      return decisionOf({ ...flow, awaitsWords: false }, []);
    case "start":
      return startAnyway(flow, rules.start, durationMs(flow, rules));
    case "line":
      if (inboundSince) return flow.isLineDown ? decisionOf(flow, [lineTimer(rules)]) : stay(flow);
      return flow.isLineDown
        ? fail(flow, "instance_lost", "the instance's line went offline during the call")
        : fail(flow, "instance_lost", WITHOUT_CALL);
  }
}

/** Fails a call instead of completing it, for lack of evidence that the callee heard anything. */
function withoutProof({ flow, effects }: Decision, missingProof: string): Decision {
  return {
    flow,
    effects: effects.map((effect) =>
      effect.do === "conclude" && effect.input === "complete"
        ? {
            do: "conclude",
            input: "fail",
            reason: "media_failed",
            detail: effect.detail === null ? missingProof : `${missingProof}; ${effect.detail}`,
          }
        : effect,
    ),
  };
}

/** The detail of a call that failed because its stream was closed too early; a sentence. */
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

function decisionOf(flow: CallFlow, effects: readonly CallEffect[]): Decision {
  return { flow, effects };
}

function complete(
  flow: CallFlow,
  reason: CompletedReason,
  detail: string | null,
  firstEffects: readonly CallEffect[] = [],
): Decision {
  return endFlow(flow, "complete", [
    ...firstEffects,
    { do: "hang_up" },
    { do: "conclude", input: "complete", reason, detail },
  ]);
}

function fail(flow: CallFlow, reason: FailedReason, detail: string | null, refusal?: RefusalScope): Decision {
  return endFlow(flow, "fail", [{ do: "hang_up" }, { do: "conclude", input: "fail", reason, detail, refusal }]);
}

function endFlow(flow: CallFlow, move: "requeue" | "complete" | "fail", effects: readonly CallEffect[]): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, move);
  return phase === undefined ? stay(flow) : { flow: { ...flow, phase }, effects };
}
