import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextState } from "../../../src/base/state-machine.ts";
import {
  decideQueue,
  NEW_QUEUE,
  QUEUE_TRANSITIONS,
  type QueueEffect,
  type QueueFlow,
  type QueueInput,
  type QueueMove,
  type QueueState,
  RETRY_MS,
  UNCONFIRMED_MS,
} from "../../../src/domain/instances/queue-flow.ts";
import { fuzz } from "../../support/fuzz.ts";

const wakeInput: QueueInput = { type: "wake", canDial: true, isStopping: false };
const offlineInput: QueueInput = { type: "wake", canDial: false, isStopping: false };
const stoppingInput: QueueInput = { type: "wake", canDial: false, isStopping: true };
const holdInput: QueueInput = { type: "hold", ms: 60_000 };
const claimUnconfirmed: QueueInput = { type: "claim_unconfirmed", now: 5_000 };
const input = (
  type: "alarm" | "clock_set" | "line_down" | "withdraw" | "prepare" | "dial" | "rest" | "end" | "requeue",
) => ({ type }) as const;

const LOOK: QueueEffect = { do: "look" };
const WAKE: QueueEffect = { do: "wake" };
const CANCEL: QueueEffect = { do: "cancel_preparation" };

/** Prepares a queue; `when` applies one more input, and `leadsTo` expects the new state and the effects. */
function given(...before: readonly QueueInput[]) {
  const flow = before.reduce<QueueFlow>((flow, input) => decideQueue(flow, input).flow, NEW_QUEUE);
  return {
    when: (input: QueueInput) => {
      const { flow: next, effects } = decideQueue(flow, input);
      return {
        leadsTo: (state: QueueState, ...expected: QueueEffect[]) =>
          expect([next.state, effects]).toEqual([state, expected]),
      };
    },
  };
}

describe("an idle queue", () => {
  test("looks for a call when it is woken and can dial", () => given().when(wakeInput).leadsTo("starting", LOOK));
  test("prepares no call while it cannot dial", () => given().when(offlineInput).leadsTo("idle", CANCEL));
  test("tries again after a failure", () =>
    given().when({ type: "retry", ms: RETRY_MS }).leadsTo("idle", { do: "wake_in", ms: RETRY_MS }));
});

describe("a queue that looks for its next call", () => {
  test("rests if there is none", () => given(wakeInput).when(input("rest")).leadsTo("idle"));
  test("waits for the message of the call", () => given(wakeInput).when(input("prepare")).leadsTo("preparing"));
  test("waits until the call is due", () =>
    given(wakeInput).when(holdInput).leadsTo("waiting", { do: "wake_in", ms: 60_000 }));
  test("is busy once it dials", () => given(wakeInput).when(input("dial")).leadsTo("busy"));
  test("runs one search at a time", () => given(wakeInput).when(wakeInput).leadsTo("starting_again"));
  test("looks again if it was woken, even offline", () => {
    for (const wake of [wakeInput, offlineInput, stoppingInput]) {
      given(wakeInput, wake).when(input("rest")).leadsTo("idle", WAKE);
      given(wakeInput, wake).when(input("prepare")).leadsTo("preparing", WAKE);
      given(wakeInput, wake).when(input("dial")).leadsTo("busy", WAKE);
      given(wakeInput, wake).when(holdInput).leadsTo("waiting", { do: "wake_in", ms: 60_000 }, WAKE);
    }
  });
  test("continues while the line is down", () => given(wakeInput).when(input("line_down")).leadsTo("starting", CANCEL));
});

describe("a queue whose call is being prepared", () => {
  test("looks again when it is woken", () =>
    given(wakeInput, input("prepare")).when(wakeInput).leadsTo("starting", LOOK));
  test("cancels the preparation when the line goes down", () => {
    given(wakeInput, input("prepare")).when(input("line_down")).leadsTo("idle", CANCEL);
    given(wakeInput, input("prepare")).when(offlineInput).leadsTo("idle", CANCEL);
  });
  test("cancels the preparation when the call is withdrawn", () =>
    given(wakeInput, input("prepare")).when(input("withdraw")).leadsTo("idle", CANCEL));
  test("ignores the wall clock", () =>
    given(wakeInput, input("prepare")).when(input("clock_set")).leadsTo("preparing"));
});

describe("a queue whose call is not due yet", () => {
  test("does not look early", () => given(wakeInput, holdInput).when(wakeInput).leadsTo("waiting"));
  test("checks when the call is due", () => {
    given(wakeInput, holdInput).when(input("alarm")).leadsTo("idle", WAKE);
    given(wakeInput, holdInput, input("alarm")).when(wakeInput).leadsTo("starting", LOOK);
  });
  test("looks immediately after the clock was set, or another number may be linked", () => {
    given(wakeInput, holdInput, input("clock_set")).when(wakeInput).leadsTo("starting", LOOK);
    given(wakeInput, holdInput, input("line_down")).when(wakeInput).leadsTo("starting", LOOK);
    given(wakeInput, holdInput, offlineInput).when(wakeInput).leadsTo("starting", LOOK);
  });
  test("waits if another call is withdrawn", () =>
    given(wakeInput, holdInput).when(input("withdraw")).leadsTo("waiting", CANCEL));
});

describe("a busy queue", () => {
  test("starts no second call", () => given(wakeInput, input("dial")).when(wakeInput).leadsTo("busy", CANCEL));
  test("looks for the next call after the end of the live one", () =>
    given(wakeInput, input("dial")).when(input("end")).leadsTo("idle", WAKE));
  test("waits a moment before a requeued call", () =>
    given(wakeInput, input("dial")).when(input("requeue")).leadsTo("idle", { do: "wake_in", ms: RETRY_MS }));
});

describe("an unconfirmed claim", () => {
  const uncertainClaim = [wakeInput, claimUnconfirmed] as const;

  test("is looked for while the line is down", () =>
    given(...uncertainClaim, input("rest"))
      .when(offlineInput)
      .leadsTo("starting", LOOK));
  test("is not looked for once the server stops", () =>
    given(...uncertainClaim, input("rest"))
      .when(stoppingInput)
      .leadsTo("idle", CANCEL));
  test("is looked for while a call is live", () => {
    given(...uncertainClaim, input("dial"))
      .when(wakeInput)
      .leadsTo("checking", LOOK);
    given(...uncertainClaim, input("dial"), wakeInput)
      .when(input("rest"))
      .leadsTo("busy");
  });
  test("is looked for again until it can no longer take effect", () => {
    const claimsChecked = (now: number): QueueInput => ({ type: "claims_checked", now });
    given(...uncertainClaim)
      .when(claimsChecked(5_000 + UNCONFIRMED_MS))
      .leadsTo("starting", { do: "wake_in", ms: RETRY_MS });
    given(...uncertainClaim)
      .when(claimsChecked(5_001 + UNCONFIRMED_MS))
      .leadsTo("starting");
    given(...uncertainClaim, claimsChecked(5_001 + UNCONFIRMED_MS), input("rest"))
      .when(offlineInput)
      .leadsTo("idle", CANCEL);
  });
  test("does not hide the end of the live call", () => {
    given(...uncertainClaim, input("dial"), wakeInput)
      .when(input("end"))
      .leadsTo("starting_again");
    given(...uncertainClaim, input("dial"), wakeInput)
      .when(input("requeue"))
      .leadsTo("starting", { do: "wake_in", ms: RETRY_MS });
  });
});

const ANY_INPUT: fc.Arbitrary<QueueInput> = fc.oneof(
  fc.record({ type: fc.constant("wake" as const), canDial: fc.boolean(), isStopping: fc.boolean() }),
  fc.constantFrom(
    ...(["alarm", "clock_set", "line_down", "withdraw", "prepare", "dial", "rest", "end", "requeue"] as const).map(
      input,
    ),
  ),
  fc.record({ type: fc.constantFrom("retry" as const, "hold" as const), ms: fc.nat() }),
  fc.record({ type: fc.constantFrom("claim_unconfirmed" as const, "claims_checked" as const), now: fc.nat(100_000) }),
);

fuzz(
  "decisions are moves in the table, and only a start or check begins a search",
  fc.property(fc.array(ANY_INPUT, { maxLength: 40 }), (inputs) => {
    let flow = NEW_QUEUE;
    for (const input of inputs) {
      const { flow: next, effects } = decideQueue(flow, input);
      const moves = Object.keys(QUEUE_TRANSITIONS[flow.state]) as QueueMove[];
      const targets = moves.map((move) => nextState(QUEUE_TRANSITIONS, flow.state, move));
      expect([flow.state, ...targets]).toContain(next.state);
      const isStart = next.state === "starting" && (flow.state === "idle" || flow.state === "preparing");
      const isCheck = next.state === "checking" && flow.state === "busy";
      expect(effects.some((effect) => effect.do === "look")).toBe(isStart || isCheck);
      flow = next;
    }
  }),
);
