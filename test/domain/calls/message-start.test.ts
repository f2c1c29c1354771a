import { describe, expect, test } from "vitest";
import { type CallFlow, decide, type FlowRules, NEW_FLOW } from "../../../src/domain/calls/call-flow.ts";
import type { CallEffect, CallSignal, TimerName } from "../../../src/domain/calls/call-signal.ts";
import {
  EXTENSION_WAIT_MS,
  FIRST_WORD_WAIT_MS,
  MAX_FIRST_WORD_MS,
  type StartRules,
} from "../../../src/domain/calls/message-start.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";

const MESSAGE_MS = 4_000;
const TALKING: readonly CallSignal[] = [
  { type: "placed" },
  { type: "message_ready", messageMs: MESSAGE_MS },
  { type: "answered" },
  { type: "connected" },
];
const wordStarted: CallSignal = { type: "first_word", hasEnded: false };
const wordEnded: CallSignal = { type: "first_word", hasEnded: true };
const extensionDialled: CallSignal = { type: "extension_dialled", inBand: false };
const machine: CallSignal = {
  type: "answered_by",
  verdict: { answeredBy: "machine", reason: "beep", confidence: 0.9, atMs: 2_000 },
};
const timer = (name: TimerName): CallSignal => ({ type: "timer", name, inboundSince: true });

const rulesOf = (start: Partial<StartRules>, onMachine: FlowRules["onMachine"] = "continue"): FlowRules => ({
  timings: DEFAULT_TIMINGS,
  expectsInboundAudio: false,
  isStreamed: false,
  playedReason: "message_played",
  onMachine,
  onScreening: "continue",
  hasFixedMessage: true,
  start: { startOn: "answer", startDelayMs: 0, ...start },
});

/** Effects of the last signal. */
function effectsOf(signals: readonly CallSignal[], rules: FlowRules): readonly CallEffect[] {
  let flow: CallFlow = NEW_FLOW;
  let effects: readonly CallEffect[] = [];
  for (const signal of signals) ({ flow, effects } = decide(flow, signal, rules));
  return effects;
}

const startEffects = (delayMs: number): CallEffect[] => [
  { do: "cancel", name: "start" },
  { do: "begin_message", delayMs },
  { do: "timer", name: "duration", ms: MESSAGE_MS + DEFAULT_TIMINGS.maxDurationMs + delayMs },
];
const startEffectsIn = (effects: readonly CallEffect[]) =>
  effects.filter(
    (effect) => /begin|await_first|extension/.test(effect.do) || ("name" in effect && effect.name === "start"),
  );

describe("a message", () => {
  test("starts on answer, without an effect", () => {
    expect(startEffectsIn(effectsOf(TALKING, rulesOf({})))).toEqual([]);
  });

  test("starts after a pause, which its maximum duration includes", () => {
    expect(effectsOf(TALKING, rulesOf({ startDelayMs: 700 })).slice(-3)).toEqual(startEffects(700));
  });

  test("waits for the first word, then the pause", () => {
    const rules = rulesOf({ startOn: "first_word", startDelayMs: 300 });
    expect(startEffectsIn(effectsOf(TALKING, rules))).toEqual([
      { do: "await_first_word" },
      { do: "timer", name: "start", ms: FIRST_WORD_WAIT_MS },
    ]);
    expect(effectsOf([...TALKING, wordStarted], rules)).toEqual([
      { do: "timer", name: "start", ms: MAX_FIRST_WORD_MS },
    ]);
    for (const word of [[wordEnded], [wordStarted, wordEnded]])
      expect(effectsOf([...TALKING, ...word], rules)).toEqual(startEffects(300));
  });

  test.each([[[]], [[wordStarted]]])("starts anyway if the wait for the first word lasts too long (%#)", (word) => {
    const rules = rulesOf({ startOn: "first_word" });
    expect(effectsOf([...TALKING, ...word, timer("start")], rules)).toEqual(startEffects(0));
  });

  test("starts once", () => {
    const rules = rulesOf({ startOn: "first_word" });
    for (const lateSignal of [wordStarted, wordEnded, timer("start"), extensionDialled])
      expect(effectsOf([...TALKING, wordEnded, lateSignal], rules)).toEqual([]);
  });

  test("waits only for the beep if a machine answers", () => {
    const rules = rulesOf({ startOn: "first_word" }, "leave_message");
    expect(effectsOf([...TALKING, machine], rules)).toContainEqual({ do: "cancel", name: "start" });
    for (const lateSignal of [wordEnded, timer("start")])
      expect(effectsOf([...TALKING, machine, lateSignal], rules)).toEqual([]);
    const recording: CallSignal = { type: "greeting_over", end: "beep" };
    expect(effectsOf([...TALKING, machine, recording], rules)).toContainEqual({ do: "leave_message" });
  });
});

describe("an extension", () => {
  const expectedNote = {
    do: "note",
    fact: { event: "extension_dialled", data: { extension: ",12", in_band: false } },
  };

  test("is dialled once the call is connected, and the message follows it", () => {
    const rules = rulesOf({ extension: ",12", startDelayMs: 200 });
    expect(startEffectsIn(effectsOf(TALKING.slice(0, 3), rules))).toEqual([]);
    expect(startEffectsIn(effectsOf(TALKING, rules))).toEqual([{ do: "dial_extension" }]);
    expect(effectsOf([...TALKING, extensionDialled], rules)).toEqual([expectedNote, ...startEffects(200)]);
    expect(effectsOf([...TALKING, extensionDialled, extensionDialled], rules)).toEqual([]);
  });

  test("is dialled to its end although the switchboard has a dial tone", () => {
    const finding = { tone: "continuous", hz: [425], atMs: 500 } as const;
    const dialTone: CallSignal = { type: "line_tone", finding, verdict: undefined };
    const rules = rulesOf({ extension: ",12" });
    expect(effectsOf([...TALKING, dialTone], rules).map((effect) => effect.do)).toEqual(["note"]);
    expect(effectsOf([...TALKING, dialTone, extensionDialled], rules)).toEqual([expectedNote, ...startEffects(0)]);
  });

  test("is dialled before the phone behind the switchboard rings", () => {
    const finding = { tone: "ringback", hz: [425], atMs: 1_500 } as const;
    const ringbackTone: CallSignal = { type: "line_tone", finding, verdict: undefined };
    const rules = rulesOf({ extension: ",12", startOn: "first_word" });
    const effectNames = (signals: readonly CallSignal[]) =>
      effectsOf([...TALKING, ...signals], rules).map(({ do: name }) => name);
    expect(effectNames([ringbackTone])).toEqual(["note"]);
    expect(effectNames([extensionDialled, ringbackTone])).toContain("await_person");
    expect(effectNames([extensionDialled, ringbackTone, wordEnded])).toEqual([]);
  });

  test("precedes the first word, so that the switchboard's does not count", () => {
    const rules = rulesOf({ extension: ",12", startOn: "first_word" });
    for (const earlySignal of [wordStarted, wordEnded]) expect(effectsOf([...TALKING, earlySignal], rules)).toEqual([]);
    expect(effectsOf([...TALKING, extensionDialled], rules)).toEqual([
      expectedNote,
      { do: "await_first_word" },
      { do: "timer", name: "start", ms: EXTENSION_WAIT_MS },
    ]);
    expect(effectsOf([...TALKING, extensionDialled, wordEnded], rules)).toEqual(startEffects(0));
  });
});
