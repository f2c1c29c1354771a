import type { CallEffect, PersonWait } from "../calls/call-signal.ts";
import type { AnswerVerdict } from "./answering-machine.ts";
import { type MachineFlow, type MachineStep, recordVerdict } from "./machine-flow.ts";

/** Maximum time that a call waits for a person, ms. */
export const PERSON_WAIT_MS = 60_000;

/** The `detail` of a call that ended without a person. */
export const NO_PERSON: { readonly [W in PersonWait]: string } = {
  screening: `a call-screening assistant answered, and no person took the call within ${PERSON_WAIT_MS / 1_000} s`,
  ringing: `it rang behind a switchboard, and no person answered within ${PERSON_WAIT_MS / 1_000} s`,
};

/** Stops the message and waits for a person. */
export function awaitPerson<Flow extends MachineFlow>(flow: Flow, reason: PersonWait): MachineStep<Flow> {
  if (flow.awaitedPerson !== undefined) return { flow, effects: [] };
  return {
    flow: { ...flow, isPlayed: false, voicemail: undefined, awaitedPerson: reason, awaitsWords: false },
    effects: [
      { do: "await_person", reason },
      { do: "timer", name: "machine", ms: PERSON_WAIT_MS },
    ],
  };
}

/**
 * Starts the message: a person has taken the call.
 * @param durationMs maximum remaining duration of the call
 */
export function personAnswered<Flow extends MachineFlow>(
  flow: Flow,
  verdict: AnswerVerdict | undefined,
  durationMs: number,
): MachineStep<Flow> {
  if (flow.awaitedPerson === undefined) return { flow, effects: [] };
  const verdictStep: MachineStep<Flow> = verdict ? recordVerdict(flow, verdict) : { flow, effects: [] };
  const startEffects: readonly CallEffect[] = [
    { do: "cancel", name: "machine" },
    { do: "timer", name: "duration", ms: durationMs },
    { do: "leave_message" },
  ];
  return {
    flow: { ...verdictStep.flow, isPlayed: false, awaitedPerson: undefined },
    effects: [...verdictStep.effects, ...startEffects],
  };
}
