import type { CallEffect } from "./call-signal.ts";

/** Triggers of a message: the answer, or the end of the callee's first word. */
export const START_TRIGGERS = ["answer", "first_word"] as const;
/** One of {@link START_TRIGGERS}. */
export type StartOn = (typeof START_TRIGGERS)[number];

/** Maximum pause before a message, ms. */
export const MAX_START_DELAY_MS = 10_000;
/** Delay before the message starts if the callee says nothing, ms. */
export const FIRST_WORD_WAIT_MS = 5_000;
/** Maximum wait for the first word after an extension, ms: a phone may have to ring first. */
export const EXTENSION_WAIT_MS = 30_000;
/** Delay before a callee who keeps speaking is interrupted, ms. */
export const MAX_FIRST_WORD_MS = 10_000;
/** Silence after the callee's voice that ends their first word, ms. */
export const FIRST_WORD_PAUSE_MS = 600;
/** Minimum length of a word, ms. */
export const MIN_FIRST_WORD_MS = 120;

/** The steps between the answer and the first sound of a call. */
export interface StartRules {
  /** Keys and pauses that reach an extension; undefined: none. */
  readonly extension?: string | undefined;
  readonly startOn: StartOn;
  /** A further pause, ms. */
  readonly startDelayMs: number;
}

/** The part of a live call's state that is about its start. */
export interface StartFlow {
  /** The step that the message waits for after the call is connected; `ready`: none. */
  readonly start: "extension" | "first_word" | "speaking" | "ready";
}

/** The next state of a call, and its effects. */
interface Step<Flow extends StartFlow> {
  readonly flow: Flow;
  readonly effects: readonly CallEffect[];
}

/** True if the audio starts at the answer, as in most calls. */
export function startsAtOnce({ extension, startOn, startDelayMs }: StartRules): boolean {
  return extension === undefined && startOn === "answer" && startDelayMs === 0;
}

/** Begins the steps before the message: the call is connected. */
export function startConnected<Flow extends StartFlow>(flow: Flow, rules: StartRules, durationMs: number): Step<Flow> {
  if (startsAtOnce(rules)) return { flow, effects: [] };
  if (rules.extension === undefined) return awaitTrigger(flow, rules, durationMs);
  return { flow: { ...flow, start: "extension" }, effects: [{ do: "dial_extension" }] };
}

/** Continues after the keys of the extension have been sent. @param inBand true for keys as tones in the audio */
export function onExtensionDialled<Flow extends StartFlow>(
  flow: Flow,
  inBand: boolean,
  rules: StartRules,
  durationMs: number,
): Step<Flow> {
  if (flow.start !== "extension" || rules.extension === undefined) return { flow, effects: [] };
  const data = { extension: rules.extension, in_band: inBand };
  const next = awaitTrigger(flow, rules, durationMs);
  const note: CallEffect = { do: "note", fact: { event: "extension_dialled", data } };
  return { flow: next.flow, effects: [note, ...next.effects] };
}

/** Continues when the callee's first word has begun or ended. */
export function onFirstWord<Flow extends StartFlow>(
  flow: Flow,
  hasEnded: boolean,
  rules: StartRules,
  durationMs: number,
): Step<Flow> {
  if (flow.start !== "first_word" && flow.start !== "speaking") return { flow, effects: [] };
  if (hasEnded) return begin(flow, rules, durationMs);
  return { flow: { ...flow, start: "speaking" }, effects: [{ do: "timer", name: "start", ms: MAX_FIRST_WORD_MS }] };
}

/** Ends the wait for the first word. */
export function startAnyway<Flow extends StartFlow>(flow: Flow, rules: StartRules, durationMs: number): Step<Flow> {
  return onFirstWord(flow, true, rules, durationMs);
}

/** Cancels these steps: the message now waits for a machine or a person. */
export function cancelStart<Flow extends StartFlow>(flow: Flow): Step<Flow> {
  if (flow.start === "ready") return { flow, effects: [] };
  return { flow: { ...flow, start: "ready" }, effects: [{ do: "cancel", name: "start" }] };
}

function awaitTrigger<Flow extends StartFlow>(flow: Flow, rules: StartRules, durationMs: number): Step<Flow> {
  if (rules.startOn === "answer") return begin(flow, rules, durationMs);
  return {
    flow: { ...flow, start: "first_word" },
    effects: [
      { do: "await_first_word" },
      { do: "timer", name: "start", ms: rules.extension === undefined ? FIRST_WORD_WAIT_MS : EXTENSION_WAIT_MS },
    ],
  };
}

function begin<Flow extends StartFlow>(flow: Flow, { startDelayMs }: StartRules, durationMs: number): Step<Flow> {
  return {
    flow: { ...flow, start: "ready" },
    effects: [
      { do: "cancel", name: "start" },
      { do: "begin_message", delayMs: startDelayMs },
      { do: "timer", name: "duration", ms: durationMs + startDelayMs },
    ],
  };
}
