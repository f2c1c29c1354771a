import type { CallEffect, PersonWait } from "../calls/call-signal.ts";
import type { ToneFinding } from "../tones/line-tones.ts";
import {
  type AnsweredBy,
  type AnswerVerdict,
  type GreetingEnd,
  type OnMachine,
  TONE_WAIT_MS,
  VERDICT_WAIT_MS,
  VOICEMAIL_WAIT_MS,
  WORDS_WAIT_MS,
} from "./answering-machine.ts";
import type { OnScreening } from "./screening-policy.ts";

/** The part of a live call's state that is about answering machines. */
export interface MachineFlow {
  /** True if the message has been played to its end, including its tail. */
  readonly isPlayed: boolean;
  /** Answerer; undefined until a verdict. */
  readonly answeredBy: AnsweredBy | undefined;
  /** Waiting for a machine to record, or the evidence that it does; undefined if no message is left. */
  readonly voicemail: "waiting" | GreetingEnd | undefined;
  /** True during and just after a tone that may show that no person has answered. */
  readonly isSuspected: boolean;
  /** The reason why the message waits for a person; undefined: it does not wait. */
  readonly awaitedPerson: PersonWait | undefined;
  /** True while the words of an apparent person may still show that an assistant has answered. */
  readonly awaitsWords: boolean;
}

/** Policies of a call if a machine or an assistant answers. */
export interface MachineRules {
  readonly onMachine: OnMachine;
  readonly onScreening: OnScreening;
}

/** The next state of a call, and its effects. */
export interface MachineStep<Flow extends MachineFlow> {
  readonly flow: Flow;
  readonly effects: readonly CallEffect[];
}

/** True if the course of the call after its message depends on the answerer. */
export function awaitsVerdict({ answeredBy }: MachineFlow, { onMachine, onScreening }: MachineRules): boolean {
  return (onMachine !== "continue" || onScreening !== "continue") && answeredBy === undefined;
}

/** Waits for words: an apparent person may be an assistant, and words arrive after the voice. */
export function awaitWords<Flow extends MachineFlow>(flow: Flow, { onScreening }: MachineRules): MachineStep<Flow> {
  const isWaiting = flow.awaitedPerson !== undefined || flow.voicemail !== undefined;
  if (flow.answeredBy !== "human" || onScreening === "continue" || isWaiting) return { flow, effects: [] };
  return { flow: { ...flow, awaitsWords: true }, effects: [{ do: "timer", name: "machine", ms: WORDS_WAIT_MS }] };
}

/** Waits for the verdict: the message has already been played. */
export function awaitVerdict<Flow extends MachineFlow>(flow: Flow): MachineStep<Flow> {
  return { flow: { ...flow, isPlayed: true }, effects: [{ do: "timer", name: "machine", ms: VERDICT_WAIT_MS }] };
}

/** Waits for a tone to be recognised: the message has ended during a tone that may not come from a person. */
export function awaitTone<Flow extends MachineFlow>(flow: Flow): MachineStep<Flow> {
  return { flow: { ...flow, isPlayed: true }, effects: [{ do: "timer", name: "machine", ms: TONE_WAIT_MS }] };
}

/** Records a recognised tone in the timeline. */
export function noteTone({ tone, hz, atMs }: ToneFinding): CallEffect {
  return { do: "note", fact: { event: "line_tone", data: { tone, frequencies: hz, at_ms: Math.round(atMs) } } };
}

/** Records a verdict, which may replace an earlier verdict. */
export function recordVerdict<Flow extends MachineFlow>(flow: Flow, verdict: AnswerVerdict): MachineStep<Flow> {
  const { answeredBy, reason, confidence, atMs } = verdict;
  const data = { answered_by: answeredBy, reason, confidence, at_ms: atMs };
  return { flow: { ...flow, answeredBy }, effects: [{ do: "note", fact: { event: "answered_by", data } }] };
}

/** Waits until the machine that has answered starts recording. */
export function awaitVoicemail<Flow extends MachineFlow>(flow: Flow): MachineStep<Flow> {
  if (flow.voicemail !== undefined) return { flow, effects: [] };
  return {
    flow: { ...flow, isPlayed: false, voicemail: "waiting", awaitedPerson: undefined, awaitsWords: false },
    effects: [{ do: "await_voicemail" }, { do: "timer", name: "machine", ms: VOICEMAIL_WAIT_MS }],
  };
}

/** Leaves a message: the agent has decided that a machine answered. @param atMs after the answer */
export function leaveVoicemail<Flow extends MachineFlow>(flow: Flow, atMs: number): MachineStep<Flow> {
  const isKnown = flow.answeredBy === "machine";
  const verdictStep = recordVerdict(flow, { answeredBy: "machine", reason: "agent", confidence: 1, atMs });
  const waitStep = awaitVoicemail(verdictStep.flow);
  return isKnown ? waitStep : { flow: waitStep.flow, effects: [...verdictStep.effects, ...waitStep.effects] };
}

/**
 * Starts the message, because the machine is recording. A beep starts the recording, so a message played to a machine
 * that seemed to have no beep is played again.
 * @param durationMs maximum remaining duration of the call
 */
export function endGreeting<Flow extends MachineFlow>(
  flow: Flow,
  end: GreetingEnd,
  durationMs: number,
): MachineStep<Flow> {
  const isRepeated = flow.voicemail === "silence" && end === "beep";
  if (flow.voicemail !== "waiting" && !isRepeated) return { flow, effects: [] };
  return {
    flow: { ...flow, isPlayed: false, voicemail: end },
    effects: [
      { do: "cancel", name: "machine" },
      { do: "note", fact: { event: "leaving_message", data: { after: end } } },
      { do: "timer", name: "duration", ms: durationMs },
      { do: "leave_message" },
    ],
  };
}
