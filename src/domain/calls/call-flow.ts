import { nextState, type Transitions } from "../../base/machine.ts";
import { ANALYSIS_MS, type AnswerVerdict, type GreetingEnd } from "../answering/answering-machine.ts";
import {
  awaitsVerdict,
  awaitTone,
  awaitVerdict,
  awaitVoicemail,
  awaitWords,
  greetingOver,
  learnVerdict,
  leaveVoicemail,
  type MachineFlow,
  type MachineRules,
  noteTone,
} from "../answering/machine-flow.ts";
import { awaitPerson, NO_PERSON, personCame } from "../answering/person-wait.ts";
import { introductionOf } from "../answering/screening-policy.ts";
import type { Fact } from "../events.ts";
import type { Timings } from "../timings.ts";
import { TONE_MEANINGS, type ToneFinding, toneText } from "../tones/line-tones.ts";
import type { CallEffect, CallSignal } from "./call-signal.ts";
import type { DialProgress } from "./dial-progress.ts";
import {
  extensionDialled,
  firstWord,
  type StartFlow,
  type StartRules,
  startAnyway,
  startConnected,
  startForgotten,
} from "./message-start.ts";
import type { CompletedReason, FailedReason } from "./outcome.ts";
import { RELEASE_FAILURES, type RefusalScope, type ReleaseCause } from "./release-cause.ts";

/** The phases of a live call, in the order of a successful one. */
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
 * The state of one live call, decided by a pure function: a state and a signal give the next state and the effects.
 * The call session carries the effects out and holds no rules.
 */
export interface CallFlow extends MachineFlow, StartFlow {
  readonly phase: CallPhase;
  /** The network has reported that someone could answer: the phone rings, or audio arrives before the answer. */
  readonly reached: boolean;
  /** Inbound audio has arrived. */
  readonly inbound: boolean;
  /** Length of the message, ms; 0 until it is ready. */
  readonly messageMs: number;
  /** No inbound audio has arrived within its time limit. */
  readonly silent: boolean;
  /** The line is offline at the moment. */
  readonly lineDown: boolean;
  /** A client is attached to the stream of the call. */
  readonly attached: boolean;
}

export const NEW_FLOW: CallFlow = {
  phase: "dialing",
  reached: false,
  inbound: false,
  messageMs: 0,
  played: false,
  silent: false,
  lineDown: false,
  attached: false,
  answeredBy: undefined,
  voicemail: undefined,
  suspected: false,
  awaited: undefined,
  awaitsWords: false,
  start: "ready",
};

/** Dependencies of the rules besides the state. */
export interface FlowRules extends MachineRules {
  readonly timings: Timings;
  /** Inbound audio must arrive: its absence means that media failed. */
  readonly expectsInboundAudio: boolean;
  /** An attached client carries the audio; the call ends without one. */
  readonly streamed: boolean;
  /** Reason for the end of a call once its audio has been played. */
  readonly playedReason: "message_played" | "agent_finished";
  /** The call has a fixed message, which can restart. */
  readonly fixed: boolean;
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
 * Decides what a signal means. After the end, signals have no effect.
 * @param missing evidence that the callee's side received our audio is required, and missing for this reason
 */
export function decide(flow: CallFlow, signal: CallSignal, rules: FlowRules, missing?: string): Decision {
  if (flow.phase === "over") return { flow, effects: [] };
  const decision = meaningOf(flow, signal, rules, missing !== undefined);
  // A normal hang-up is an act of the callee's side.
  const isHangUp = signal.type === "leg_ended" && signal.fault !== true;
  return missing === undefined || isHangUp ? decision : withoutProof(decision, missing);
}

function meaningOf(flow: CallFlow, signal: CallSignal, rules: FlowRules, unproven: boolean): Decision {
  switch (signal.type) {
    case "placed":
      return placed(flow, rules);
    case "alerting":
      return flow.phase === "ringing" ? noticed(flow, { event: "alerting", data: {} }) : stay(flow);
    case "answered":
      return answered(flow, rules);
    case "connected":
      return connected(flow, rules, unproven);
    case "leg_ended":
      return legEnded(flow, signal);
    case "media_lost":
      return fail(flow, "media_failed", signal.detail);
    case "inbound_audio":
      if (flow.played && flow.phase === "talking") return messagePlayed({ ...flow, inbound: true }, rules, unproven);
      return to({ ...flow, inbound: true }, [{ do: "cancel", name: "inbound" }]);
    case "evidence":
      return flow.played ? messagePlayed(flow, rules, unproven) : stay(flow);
    case "message_ready":
      return messageReady(flow, signal.messageMs, rules);
    case "message_failed":
      return fail(flow, signal.reason, signal.detail);
    case "message_played":
      return messagePlayed(flow, rules, unproven, signal.detail ?? null);
    case "transferred":
      return transferred(flow, signal.to, signal.detail, rules);
    case "stream_attached":
      return to({ ...flow, attached: true }, [{ do: "cancel", name: "stream" }]);
    case "stream_detached":
      return to({ ...flow, attached: false }, flow.phase === "talking" ? [streamTimer(rules)] : []);
    case "stream_closed":
      if (flow.phase === "talking") return complete(flow, "stream_closed", null);
      return fail(flow, "terminated", CLOSED_BEFORE_ANSWER);
    case "answered_by":
      return answeredBy(flow, signal.verdict, rules, unproven);
    case "line_tone":
      return lineTone(flow, signal.finding, signal.verdict, rules);
    case "tone_suspected":
      return toneSuspected({ ...flow, suspected: signal.suspected }, rules, unproven);
    case "person_came":
      return flow.phase === "talking"
        ? personCame(flow, signal.verdict, flow.messageMs + rules.timings.maxDurationMs)
        : stay(flow);
    case "leave_voicemail":
      return flow.phase === "talking" ? leaveVoicemail(flow, signal.atMs) : stay(flow);
    case "greeting_over":
      return leaveMessage(flow, signal.end, rules);
    case "extension_dialled":
      return extensionDialled(flow, signal.inBand, rules.start, durationMs(flow, rules));
    case "first_word":
      return firstWord(flow, signal.isOver, rules.start, durationMs(flow, rules));
    case "noticed":
      return noticed(flow, signal.fact);
    case "line_down":
      if (flow.lineDown) return stay(flow);
      // Before the network is asked, the dial itself reports the lost line, and the call waits again.
      return to({ ...flow, lineDown: true }, flow.phase === "dialing" ? [] : [lineTimer(rules)]);
    case "line_up":
      if (!flow.lineDown) return stay(flow);
      if (flow.phase === "dialing") return to({ ...flow, lineDown: false }, []);
      // A leg does not survive the loss of its line, unless its audio never stopped.
      if (!signal.inboundSince) return fail(flow, "instance_lost", WITHOUT_CALL);
      // The audio may have been the last frame on its way, so the timer checks once more.
      return to({ ...flow, lineDown: false }, [lineTimer(rules)]);
    case "timer":
      return timer(flow, signal, rules);
    case "end":
      return fail(flow, signal.reason, signal.detail);
  }
}

function placed(flow: CallFlow, rules: FlowRules): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "place");
  if (phase === undefined) return stay(flow);
  const effects: CallEffect[] = [
    { do: "move", input: "place" },
    { do: "timer", name: "ring", ms: rules.timings.ringTimeoutMs },
  ];
  if (flow.lineDown) effects.push(lineTimer(rules));
  return to({ ...flow, phase }, effects);
}

function answered(flow: CallFlow, rules: FlowRules): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "answer");
  if (phase === undefined) return stay(flow);
  return to({ ...flow, phase }, [
    { do: "cancel", name: "ring" },
    { do: "timer", name: "setup", ms: rules.timings.mediaSetupMs },
  ]);
}

function connected(flow: CallFlow, rules: FlowRules, unproven: boolean): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, "connect");
  if (phase === undefined) return stay(flow);
  const effects: CallEffect[] = [
    { do: "move", input: "connect" },
    { do: "cancel", name: "ring" },
    { do: "cancel", name: "setup" },
    // Counted from the end of the message, which starts now if it is ready.
    { do: "timer", name: "duration", ms: durationMs(flow, rules) },
  ];
  if (!flow.inbound) effects.push({ do: "timer", name: "inbound", ms: rules.timings.mediaTimeoutMs });
  if (rules.streamed && !flow.attached) effects.push(streamTimer(rules));
  const started = startConnected({ ...flow, phase }, rules.start, durationMs(flow, rules));
  effects.push(...started.effects);
  if (!flow.played) return to(started.flow, effects);
  const played = messagePlayed(started.flow, rules, unproven);
  return to(played.flow, [...effects, ...played.effects]);
}

function messageReady(flow: CallFlow, messageMs: number, rules: FlowRules): Decision {
  const note: CallEffect = { do: "note", fact: { event: "message_ready", data: { message_ms: messageMs } } };
  const ready: CallFlow = { ...flow, messageMs };
  if (flow.phase !== "talking") return to(ready, [note]);
  return to(ready, [note, { do: "timer", name: "duration", ms: durationMs(ready, rules) }]);
}

function answeredBy(flow: CallFlow, verdict: AnswerVerdict, rules: FlowRules, unproven: boolean): Decision {
  const learnt = learnVerdict(flow, verdict);
  if (flow.phase !== "talking") return learnt;
  const heard = awaitWords(learnt.flow, rules);
  const next = whenAnswered(heard.flow, rules, unproven);
  return to(next.flow, [...learnt.effects, ...heard.effects, ...next.effects]);
}

function whenAnswered(flow: CallFlow, rules: FlowRules, unproven: boolean): Decision {
  if (flow.answeredBy === "machine" && rules.onMachine === "hang_up") return complete(flow, "machine_hung_up", null);
  if (flow.answeredBy === "machine" && rules.onMachine === "leave_message") return withoutStart(awaitVoicemail(flow));
  if (flow.answeredBy === "screening" && rules.onScreening === "hang_up")
    return complete(flow, "machine_hung_up", "a call-screening assistant answered");
  if (flow.answeredBy === "screening" && introductionOf(rules.onScreening))
    return withoutStart(awaitPerson(flow, "screening"));
  // The assistant has passed the call on to a voicemail box, which gets the message as a person does.
  if (flow.answeredBy === "machine" && flow.awaited === "screening")
    return personCame(flow, undefined, durationMs(flow, rules));
  return flow.played ? messagePlayed(flow, rules, unproven) : stay(flow);
}

/** A message that waits for a machine or a person waits for no other condition. */
function withoutStart({ flow, effects }: Decision): Decision {
  const next = startForgotten(flow);
  return to(next.flow, [...next.effects, ...effects]);
}

/** No person follows a fax machine or a busy tone: the call ends, unless a program conducts it. */
function lineTone(
  flow: CallFlow,
  finding: ToneFinding,
  verdict: AnswerVerdict | undefined,
  rules: FlowRules,
): Decision {
  const learnt = verdict ? learnVerdict(flow, verdict) : stay(flow);
  const notes: readonly CallEffect[] = [noteTone(finding), ...learnt.effects];
  const { ends, followsPerson } = TONE_MEANINGS[finding.tone];
  if (finding.tone === "ringback" && mayWait(learnt.flow, finding, rules)) {
    const waiting = withoutStart(awaitPerson(learnt.flow, "ringing"));
    return to(waiting.flow, [...notes, ...waiting.effects]);
  }
  // A switchboard may offer a dial tone for the extension.
  const carriesOn = rules.streamed || (flow.start === "extension" && finding.tone === "continuous");
  if (!ends || carriesOn || flow.phase !== "talking") return to(learnt.flow, notes);
  const detail = toneText(finding);
  const ended =
    followsPerson && learnt.flow.answeredBy === "human"
      ? complete(learnt.flow, "callee_hung_up", detail)
      : complete(learnt.flow, "machine_hung_up", detail, [{ do: "discard_message" }]);
  return to(ended.flow, [...notes, ...ended.effects]);
}

/** True if the message can restart once a person answers the phone that rings behind a switchboard. */
function mayWait({ phase, start, voicemail }: CallFlow, { atMs }: ToneFinding, { fixed }: FlowRules): boolean {
  return phase === "talking" && start !== "extension" && fixed && voicemail === undefined && atMs <= ANALYSIS_MS;
}

function toneSuspected(flow: CallFlow, rules: FlowRules, unproven: boolean): Decision {
  return flow.suspected || !flow.played ? stay(flow) : messagePlayed(flow, rules, unproven);
}

function leaveMessage(flow: CallFlow, end: GreetingEnd, rules: FlowRules): Decision {
  if (flow.phase !== "talking") return stay(flow);
  return greetingOver(flow, end, durationMs(flow, rules));
}

/** Maximum remaining duration of the call, counted from the end of the message, ms. */
function durationMs({ messageMs }: CallFlow, { timings }: FlowRules): number {
  return messageMs + timings.maxDurationMs;
}

function messagePlayed(flow: CallFlow, rules: FlowRules, unproven: boolean, detail: string | null = null): Decision {
  if (flow.voicemail === "waiting" || flow.awaited !== undefined) return stay(flow);
  if (flow.awaitsWords) return to({ ...flow, played: true }, []);
  // If required audio has not arrived, it is unknown whether the callee heard the message: the inbound timer decides.
  // A message that is shorter than the time to the connection waits for the connection.
  const waits = !flow.inbound && (rules.expectsInboundAudio || (unproven && !flow.silent));
  if (flow.phase !== "talking" || waits) return to({ ...flow, played: true }, []);
  if (awaitsVerdict(flow, rules)) return awaitVerdict(flow);
  if (flow.suspected && !rules.streamed) return awaitTone(flow);
  return complete(flow, rules.playedReason, detail);
}

function transferred(flow: CallFlow, phone: string, detail: string | null, rules: FlowRules): Decision {
  if (flow.phase !== "talking") return stay(flow);
  const words = detail === null ? "" : `: ${detail}`;
  const ended = complete(flow, rules.playedReason, `transferred to ${phone}${words}`);
  const note: CallEffect = { do: "note", fact: { event: "transferred", data: { to: phone, detail } } };
  return { flow: ended.flow, effects: [note, ...ended.effects] };
}

function legEnded(flow: CallFlow, { cause, detail, refusal }: Extract<CallSignal, { type: "leg_ended" }>): Decision {
  if (flow.phase === "talking" && cause === "callee_hung_up") return complete(flow, "callee_hung_up", detail);
  if (flow.phase === "dialing" && cause === "line_lost") return over(flow, "requeue", [{ do: "requeue" }]);
  return fail(flow, failureOf(cause, flow), detail, refusal);
}

function failureOf(cause: ReleaseCause, flow: CallFlow): FailedReason {
  // Accepted and ended before our audio path was up: the call was not declined, and the callee heard nothing.
  if (cause === "callee_hung_up" && flow.phase === "answered") return "media_failed";
  return RELEASE_FAILURES[cause];
}

/** Facts that show that someone could answer. */
const REACHED: ReadonlySet<Fact["event"]> = new Set<Fact["event"]>(["alerting", "early_media"]);

function noticed(flow: CallFlow, fact: Fact): Decision {
  const reached = flow.reached || REACHED.has(fact.event);
  return to(reached === flow.reached ? flow : { ...flow, reached }, [{ do: "note", fact }]);
}

/** The end of the ring timeout: without evidence that someone could have answered, the callee was not reached. */
function unanswered(flow: CallFlow, progress: DialProgress | undefined, { timings }: FlowRules): Decision {
  if (flow.reached || progress?.reached) return fail(flow, "no_answer", null);
  return fail(flow, "unreachable", `${progress?.detail ?? NO_RINGING} within ${timings.ringTimeoutMs / 1_000} s`);
}

const NO_RINGING = "the network took the call, but reported no ringing";

function timer(flow: CallFlow, signal: Extract<CallSignal, { type: "timer" }>, rules: FlowRules): Decision {
  const { name, inboundSince } = signal;
  switch (name) {
    case "ring":
      if (flow.phase === "ringing") return unanswered(flow, signal.progress, rules);
      return flow.phase === "dialing" ? fail(flow, "unreachable", "the network did not take the call") : stay(flow);
    case "setup":
      return flow.phase === "answered" ? fail(flow, "media_failed", "the audio path did not come up") : stay(flow);
    case "inbound": {
      if (flow.inbound || flow.phase !== "talking") return stay(flow);
      const silent: CallEffect = {
        do: "note",
        fact: { event: "media.inbound_silent", data: { after_ms: rules.timings.mediaTimeoutMs } },
      };
      if (!rules.expectsInboundAudio && !flow.played) return to({ ...flow, silent: true }, [silent]);
      const ended = rules.expectsInboundAudio
        ? fail(flow, "media_failed", "no audio came from the peer")
        : complete(flow, rules.playedReason, null);
      return { flow: ended.flow, effects: [silent, ...ended.effects] };
    }
    case "duration":
      return flow.phase === "talking" ? complete(flow, "max_duration", null) : stay(flow);
    case "stream":
      if (flow.attached || flow.phase !== "talking") return stay(flow);
      return fail(flow, "stream_lost", `no client was attached to the stream for ${rules.timings.streamAttachMs} ms`);
    case "machine":
      if (flow.voicemail === "waiting") return leaveMessage(flow, "timeout", rules);
      if (flow.awaited !== undefined)
        return complete(flow, "machine_hung_up", NO_PERSON[flow.awaited], [{ do: "discard_message" }]);
      if (flow.played && flow.phase === "talking") return complete(flow, rules.playedReason, null);
      return to({ ...flow, awaitsWords: false }, []);
    case "start":
      return startAnyway(flow, rules.start, durationMs(flow, rules));
    case "line":
      if (inboundSince) return flow.lineDown ? to(flow, [lineTimer(rules)]) : stay(flow);
      return flow.lineDown
        ? fail(flow, "instance_lost", "the instance's line went offline during the call")
        : fail(flow, "instance_lost", WITHOUT_CALL);
  }
}

/** Without evidence that the callee heard anything, a call fails instead of completing. */
function withoutProof({ flow, effects }: Decision, missing: string): Decision {
  return {
    flow,
    effects: effects.map((effect) =>
      effect.do === "conclude" && effect.input === "complete"
        ? {
            do: "conclude",
            input: "fail",
            reason: "media_failed",
            detail: effect.detail === null ? missing : `${missing}; ${effect.detail}`,
          }
        : effect,
    ),
  };
}

/** The detail of a call that failed because its stream was closed too early; a sentence for a person. */
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

function complete(
  flow: CallFlow,
  reason: CompletedReason,
  detail: string | null,
  before: readonly CallEffect[] = [],
): Decision {
  return over(flow, "complete", [...before, { do: "hang_up" }, { do: "conclude", input: "complete", reason, detail }]);
}

function fail(flow: CallFlow, reason: FailedReason, detail: string | null, refusal?: RefusalScope): Decision {
  return over(flow, "fail", [{ do: "hang_up" }, { do: "conclude", input: "fail", reason, detail, refusal }]);
}

function over(flow: CallFlow, move: "requeue" | "complete" | "fail", effects: readonly CallEffect[]): Decision {
  const phase = nextState(PHASE_TRANSITIONS, flow.phase, move);
  return phase === undefined ? stay(flow) : { flow: { ...flow, phase }, effects };
}
