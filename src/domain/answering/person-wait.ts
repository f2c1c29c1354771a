import type { CallEffect, PersonWait } from "../calls/call-signal.ts";
import type { AnswerVerdict } from "./answering-machine.ts";
import { learnVerdict, type MachineFlow, type MachineStep } from "./machine-flow.ts";

/** Maximum time that a call waits for a person, ms. */
export const PERSON_WAIT_MS = 60_000;

/** The `detail` of a call that ended without a person. */
export const NO_PERSON: { readonly [W in PersonWait]: string } = {
  screening: `a call-screening assistant answered, and no person took the call within ${PERSON_WAIT_MS / 1_000} s`,
  ringing: `it rang behind a switchboard, and no person answered within ${PERSON_WAIT_MS / 1_000} s`,
};

/** The message stops, and waits for a person. */
export function awaitPerson<Flow extends MachineFlow>(flow: Flow, behind: PersonWait): MachineStep<Flow> {
  if (flow.awaited !== undefined) return { flow, effects: [] };
  return {
    flow: { ...flow, played: false, voicemail: undefined, awaited: behind, awaitsWords: false },
    effects: [
      { do: "await_person", behind },
      { do: "timer", name: "machine", ms: PERSON_WAIT_MS },
    ],
  };
}

/**
 * A person has taken the call: the message starts.
 * @param durationMs maximum remaining duration of the call
 */
export function personCame<Flow extends MachineFlow>(
  flow: Flow,
  verdict: AnswerVerdict | undefined,
  durationMs: number,
): MachineStep<Flow> {
  if (flow.awaited === undefined) return { flow, effects: [] };
  const learnt: MachineStep<Flow> = verdict ? learnVerdict(flow, verdict) : { flow, effects: [] };
  const begin: readonly CallEffect[] = [
    { do: "cancel", name: "machine" },
    { do: "timer", name: "duration", ms: durationMs },
    { do: "leave_message" },
  ];
  return { flow: { ...learnt.flow, played: false, awaited: undefined }, effects: [...learnt.effects, ...begin] };
}
