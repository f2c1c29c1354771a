import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decideLine,
  isProbed,
  LINE_CONDITIONS,
  LINE_TRANSITIONS,
  type LineCondition,
  type LineEffect,
  type LineFlow,
  type LineInput,
  type LineRules,
  newLine,
} from "../../../src/domain/instances/line-flow.ts";
import { fuzz } from "../../support/fuzz.ts";

const RULES: LineRules = { graceMs: 30_000, linksAutomatically: false };
const OPERATOR_RULES: LineRules = { ...RULES, linksAutomatically: true };

const NEW_LINE = newLine(false);
const LINKED_LINE = newLine(true);

const linking: LineInput = { type: "linking_started" };
const linkStored = (offlineReports = 0): LineInput => ({ type: "link_stored", offlineReports });
const resumedInput: LineInput = { type: "resumed" };
const openFailed: LineInput = { type: "open_failed", reason: "no answer" };
const foundOnline = (at = 1_000): LineInput => ({ type: "found_online", at });
const foundOffline: LineInput = { type: "found_offline", reason: "no route", isLasting: false };
const activeStored = (offlineReports = 0): LineInput => ({ type: "active_stored", offlineReports });
const offline = (reason = "gone", isLasting = false): LineInput => ({ type: "offline", reason, isLasting });
const unlinked: LineInput = { type: "unlinked", reason: "removed" };
const condition = (name: LineCondition | null, reason?: string): LineInput => ({
  type: "condition",
  condition: name,
  reason,
});
const unlinking: LineInput = { type: "unlinking", reason: "by its owner" };
const unlinkingStored: LineInput = { type: "unlinking_stored", reason: "by its owner" };
const graceEnded: LineInput = { type: "grace_over" };
const closing: LineInput = { type: "closing" };
const closed: LineInput = { type: "closed" };

const TO_ONLINE = [foundOnline(), activeStored()];
const startGrace: LineEffect = { do: "start_grace", ms: 30_000 };

/** Prepares a line; `when` applies one more input to it, and `ignores` expects an input to have no effect. */
function given(start: LineFlow, before: readonly LineInput[] = [], rules: LineRules = RULES) {
  const flow = before.reduce((state, input) => decideLine(state, input, rules).flow, start);
  return {
    flow,
    when: (input: LineInput) => ({ before: flow, ...decideLine(flow, input, rules) }),
    ignores: (input: LineInput) => expect(decideLine(flow, input, rules)).toEqual({ flow, effects: [] }),
  };
}

test("a notice of an online probe is the line's condition until a probe has none", () => {
  const notice = { condition: "restricted", reason: "no calls to strangers", until: 5_000 } as const;
  const onlineFlow = decideLine(newLine(true), { type: "found_online", at: 1_000, notice }, RULES).flow;
  expect(onlineFlow).toMatchObject({ condition: "restricted", notice });
  expect(decideLine(onlineFlow, foundOnline(2_000), RULES).flow).toMatchObject({ condition: null, notice: null });
});

describe("linking", () => {
  test("waits for the code to be scanned", () => {
    const { flow, effects } = given(NEW_LINE).when(linking);
    expect(flow).toMatchObject({ state: "linking", reason: "waiting for the code to be scanned" });
    expect(effects).toEqual([]);
    expect(isProbed(flow)).toBe(false);
  });

  test("a stored link connects, clears the code and schedules a probe", () => {
    const { flow, effects } = given(NEW_LINE, [linking]).when(linkStored());
    expect(flow.state).toBe("connecting");
    expect(effects).toEqual([{ do: "clear_code" }, { do: "schedule_probe" }]);
  });

  test("a link that is stored after an unlinking leaves the line unlinked", () => {
    const { flow } = given(NEW_LINE, [linking, unlinked]).when(linkStored(0));
    expect(flow).toMatchObject({ state: "unlinked", reason: "removed" });
  });

  test("a stored link clears a permanent fault, unless a report arrived during the write", () => {
    const rejectedLine = given(LINKED_LINE, [offline("wrong password", true)]);
    expect(rejectedLine.when(linkStored(1)).flow.lastingFault).toBeUndefined();
    expect(rejectedLine.when(linkStored(0)).flow.lastingFault).toBe("wrong password");
  });

  test("a stored link leaves an online line online", () => {
    expect(given(LINKED_LINE, TO_ONLINE).when(linkStored()).flow.state).toBe("online");
  });

  test("a linked line does not link again", () => {
    given(LINKED_LINE).ignores(linking);
  });

  test("a resumed line connects although unlinked", () => {
    expect(given(NEW_LINE).when(resumedInput).flow.state).toBe("connecting");
    given(LINKED_LINE, TO_ONLINE).ignores(resumedInput);
  });

  test("a line that cannot be opened is offline, or unlinked without a number", () => {
    expect(given(NEW_LINE).when(openFailed)).toMatchObject({
      flow: { state: "unlinked", reason: "no answer" },
      effects: [],
    });
    expect(given(LINKED_LINE).when(openFailed)).toMatchObject({
      flow: { state: "offline", reason: "no answer" },
      effects: [],
    });
    expect(given(NEW_LINE, [resumedInput]).when(openFailed).flow.state).toBe("offline");
  });
});

describe("a probe that finds the line online", () => {
  test("stores the instance active before dialling", () => {
    const { flow, effects } = given(LINKED_LINE).when(foundOnline(7_000));
    expect(flow).toMatchObject({ state: "connecting", lastSeenAt: 7_000 });
    expect(effects).toEqual([{ do: "stop_grace" }, { do: "store_active", offlineReports: 0 }]);
  });

  test("makes the line online once the instance is stored", () => {
    const { flow, effects } = given(LINKED_LINE, [foundOnline()]).when(activeStored());
    expect(flow).toMatchObject({ state: "online", reason: null });
    expect(effects).toEqual([{ do: "notify_online" }]);
  });

  test("has no effect if a report against the line arrived during the write", () => {
    given(LINKED_LINE, [foundOnline(), offline()]).ignores(activeStored(0));
    given(LINKED_LINE, [foundOnline(), unlinked]).ignores(activeStored(0));
  });

  test("does not store a line that is already online", () => {
    const { flow, effects } = given(LINKED_LINE, TO_ONLINE).when(foundOnline(9_000));
    expect(flow).toMatchObject({ state: "online", lastSeenAt: 9_000 });
    expect(effects).toEqual([{ do: "stop_grace" }]);
  });

  test("links a line whose code was not reported as scanned", () => {
    expect(given(NEW_LINE, [linking, ...TO_ONLINE]).flow.state).toBe("online");
  });

  test("clears a lasting fault immediately", () => {
    expect(given(LINKED_LINE, [offline("bad", true)]).when(foundOnline()).flow.lastingFault).toBeUndefined();
  });

  test("is ignored after an unlinking", () => {
    given(LINKED_LINE, [unlinked]).ignores(foundOnline());
    given(LINKED_LINE, [unlinked]).ignores(foundOffline);
  });
});

describe("an offline line", () => {
  test("reconnects within the grace period and cannot dial", () => {
    const { flow, effects } = given(LINKED_LINE, TO_ONLINE).when(offline());
    expect(flow).toMatchObject({ state: "reconnecting", reason: "gone", offlineReports: 1 });
    expect(effects).toEqual([{ do: "notify_offline", reason: "gone" }, startGrace]);
  });

  test("starts its grace period once and notifies once", () => {
    const { flow, effects } = given(LINKED_LINE, [...TO_ONLINE, offline()]).when(foundOffline);
    expect(flow).toMatchObject({ state: "reconnecting", reason: "no route", offlineReports: 2 });
    expect(effects).toEqual([]);
  });

  test("is stored as inactive, with the latest reason, when the grace period has ended", () => {
    const { flow, effects } = given(LINKED_LINE, [...TO_ONLINE, offline(), offline("worse")]).when(graceEnded);
    expect(flow).toMatchObject({ state: "offline", reason: "worse", isInGrace: false });
    expect(effects).toEqual([{ do: "store_inactive", reason: "worse" }]);
  });

  test("has a grace period during its first connection", () => {
    expect(given(LINKED_LINE).when(offline()).effects).toEqual([startGrace]);
    expect(given(LINKED_LINE, [offline()]).when(graceEnded).flow.state).toBe("offline");
  });

  test("starts another grace period after it was online again", () => {
    const secondLoss = given(LINKED_LINE, [...TO_ONLINE, offline(), foundOnline(), activeStored(1)]);
    expect(secondLoss.flow.state).toBe("online");
    expect(secondLoss.when(offline()).effects).toContainEqual(startGrace);
  });

  test("starts no grace period after the first one", () => {
    const { flow, effects } = given(LINKED_LINE, [offline(), graceEnded]).when(offline("still"));
    expect(flow).toMatchObject({ state: "offline", reason: "still" });
    expect(effects).toEqual([]);
  });

  test("is reported as broken once per lasting fault", () => {
    const rejectedLine = given(LINKED_LINE).when(offline("wrong password", true));
    expect(rejectedLine.flow.lastingFault).toBe("wrong password");
    expect(rejectedLine.effects).toEqual([
      { do: "notify_broken" },
      { do: "stop_grace" },
      { do: "store_inactive", reason: "wrong password" },
    ]);
    expect(decideLine(rejectedLine.flow, offline("wrong name", true), RULES)).toMatchObject({
      flow: { lastingFault: "wrong name" },
      effects: [],
    });
    expect(decideLine(rejectedLine.flow, offline("busy"), RULES).flow.lastingFault).toBeUndefined();
  });

  test("has no grace period for a lasting fault", () => {
    for (const before of [[], TO_ONLINE, [...TO_ONLINE, offline("no route")]]) {
      const { flow, effects } = given(LINKED_LINE, before).when(offline("replaced", true));
      expect(flow).toMatchObject({ state: "offline", reason: "replaced", lastingFault: "replaced", isInGrace: false });
      expect(effects).toContainEqual({ do: "store_inactive", reason: "replaced" });
      expect(effects).not.toContainEqual(startGrace);
    }
    const secondLoss = given(LINKED_LINE, [...TO_ONLINE, offline("replaced", true)]).when(offline("replaced", true));
    expect(secondLoss.effects).toEqual([]);
  });

  test("without a number only counts the report", () => {
    for (const before of [[], [linking]])
      expect(given(NEW_LINE, before).when(offline())).toMatchObject({
        flow: { ...given(NEW_LINE, before).flow, offlineReports: 1 },
        effects: [],
      });
  });
});

describe("an unlinked line", () => {
  test("stops its timers, notifies and stores in this order", () => {
    const { flow, effects } = given(LINKED_LINE, [...TO_ONLINE, offline("bad", true)]).when(unlinked);
    expect(flow).toMatchObject({ state: "unlinked", reason: "removed", lastingFault: undefined, isInGrace: false });
    expect(effects).toEqual([
      { do: "cancel_probe" },
      { do: "stop_grace" },
      { do: "notify_offline", reason: "removed" },
      { do: "store_unlinked", reason: "removed" },
    ]);
    expect(isProbed(flow)).toBe(false);
  });

  test("is only offline if its network links automatically", () => {
    const { flow, effects } = given(LINKED_LINE, TO_ONLINE, OPERATOR_RULES).when(unlinked);
    expect(flow).toMatchObject({ state: "reconnecting", reason: "removed" });
    expect(effects).toEqual([{ do: "notify_offline", reason: "removed" }, startGrace]);
  });

  test("links again with a new code", () => {
    expect(given(LINKED_LINE, [unlinked, linking, linkStored(1), foundOnline(), activeStored(1)]).flow.state).toBe(
      "online",
    );
  });
});

describe("a line whose user unlinks the number", () => {
  test("stops its timers and notifies, but stores no state before the network has been asked", () => {
    const { flow, effects } = given(LINKED_LINE, [...TO_ONLINE, offline("bad", true)]).when(unlinking);
    expect(flow).toMatchObject({ state: "unlinked", reason: "by its owner", stage: "unlinking", offlineReports: 2 });
    expect(flow).toMatchObject({ lastingFault: undefined, isInGrace: false });
    expect(effects).toEqual([
      { do: "cancel_probe" },
      { do: "stop_grace" },
      { do: "notify_offline", reason: "by its owner" },
    ]);
    expect(isProbed(flow)).toBe(false);
  });

  test("ignores later reports of its network", () => {
    const { ignores, when } = given(LINKED_LINE, [...TO_ONLINE, unlinking]);
    for (const input of [unlinking, unlinked, linking, resumedInput, foundOnline(), foundOffline, activeStored()])
      ignores(input);
    expect(when(offline())).toMatchObject({ flow: { state: "unlinked", offlineReports: 2 }, effects: [] });
  });

  test("links again with a new code once the unlink is stored", () => {
    const afterStored = given(LINKED_LINE, [unlinking]).when(unlinkingStored);
    expect(afterStored).toMatchObject({
      flow: { state: "unlinked", stage: "open", reason: "by its owner" },
      effects: [],
    });
    const relinkInputs = [unlinking, unlinkingStored, linking, linkStored(2), foundOnline(), activeStored(2)];
    expect(given(LINKED_LINE, relinkInputs).flow.state).toBe("online");
  });

  test("may be closed in the meantime, and stays closed", () => {
    const { flow, ignores } = given(LINKED_LINE, [unlinking, closing]);
    expect(flow.stage).toBe("closing");
    ignores(unlinkingStored);
    ignores(unlinking);
    given(LINKED_LINE, [closing, closed]).ignores(unlinking);
  });
});

describe("a line that is being closed", () => {
  test("stops its timers", () => {
    const { flow, effects } = given(LINKED_LINE, [offline()]).when(closing);
    expect(flow).toMatchObject({ stage: "closing", isInGrace: false });
    expect(effects).toEqual([{ do: "cancel_probe" }, { do: "stop_grace" }]);
    expect(isProbed(flow)).toBe(false);
  });

  test("ignores probe results", () => {
    given(LINKED_LINE, [closing]).ignores(foundOnline());
    given(LINKED_LINE, [closing]).ignores(foundOffline);
  });

  test("still stores an unlinking until it is closed", () => {
    expect(given(LINKED_LINE, [closing]).when(unlinked).effects).toContainEqual({
      do: "store_unlinked",
      reason: "removed",
    });
    given(LINKED_LINE, [closing, closed]).ignores(unlinked);
  });

  test("stays closed", () => {
    given(LINKED_LINE, [closing, closed]).ignores(closing);
  });
});

describe("any sequence of inputs", () => {
  const text = fc.constantFrom("a", "b");
  const reports = fc.nat({ max: 4 });
  const anyInput: fc.Arbitrary<LineInput> = fc.oneof(
    fc.constantFrom(linking, resumedInput, openFailed, graceEnded, unlinked, foundOnline(), closing, closed),
    fc.constantFrom(unlinking, unlinkingStored),
    reports.map(linkStored),
    reports.map(activeStored),
    fc.tuple(text, fc.boolean()).map(([reason, isLasting]) => offline(reason, isLasting)),
  );

  fuzz(
    "moves the line only as the table allows",
    fc.property(
      fc.boolean(),
      fc.boolean(),
      fc.array(anyInput, { maxLength: 30 }),
      (isLinked, linksAutomatically, inputs) => {
        let flow = newLine(isLinked);
        for (const input of inputs) {
          const { flow: next, effects } = decideLine(flow, input, { ...RULES, linksAutomatically });
          const effect = (name: LineEffect["do"]) => effects.some((candidate) => candidate.do === name);
          if (next.state !== flow.state) expect(Object.values(LINE_TRANSITIONS[flow.state])).toContain(next.state);
          expect(next.reason === null).toBe(next.state === "online");
          if (next.state === "online" && flow.state !== "online") expect(input.type).toBe("active_stored");
          if (effect("notify_online")) expect(next.state).toBe("online");
          if (effect("start_grace")) expect([flow.isInGrace, next.isInGrace]).toEqual([false, true]);
          if (flow.isInGrace && !next.isInGrace) expect(effect("stop_grace") || input.type === "grace_over").toBe(true);
          flow = next;
        }
      },
    ),
  );
});

describe("a condition", () => {
  test("is kept in every state, without any effect", () => {
    for (const start of [
      given(NEW_LINE),
      given(NEW_LINE, [linking]),
      given(LINKED_LINE),
      given(LINKED_LINE, TO_ONLINE),
    ])
      for (const name of LINE_CONDITIONS) {
        const { before, flow, effects } = start.when(condition(name));
        expect([flow, effects]).toEqual([{ ...before, condition: name }, []]);
      }
  });

  test("replaces the reason while no number is linked", () => {
    const expiredCondition = condition("qr_expired", "the codes have expired; ask for a new one");
    for (const start of [given(NEW_LINE), given(NEW_LINE, [linking])]) {
      const { before, flow } = start.when(expiredCondition);
      expect(flow).toMatchObject({ state: before.state, reason: "the codes have expired; ask for a new one" });
    }
    expect(given(LINKED_LINE, [offline("no route")]).when(condition("replaced", "replaced")).flow.reason).toBe(
      "no route",
    );
  });

  test("restores the usual reason when it ends", () => {
    const expiredCondition = condition("qr_expired", "the codes have expired");
    expect(given(NEW_LINE, [linking, expiredCondition]).when(condition(null)).flow.reason).toBe(
      "waiting for the code to be scanned",
    );
    expect(given(NEW_LINE, [expiredCondition]).when(condition(null)).flow.reason).toBe("no phone number is linked");
    expect(given(LINKED_LINE, [unlinked]).when(condition(null)).flow.reason).toBe("removed");
    expect(given(NEW_LINE, [linking, expiredCondition]).when(condition(null, "starting again")).flow.reason).toBe(
      "starting again",
    );
  });

  test.each([
    ["the number is linked", NEW_LINE, [linking], linkStored()],
    ["a probe finds the line online", LINKED_LINE, [], foundOnline()],
    ["the number is unlinked", LINKED_LINE, TO_ONLINE, unlinked],
  ])("ends when %s", (_, start, before, input) => {
    const { flow } = given(start, [...before, condition("restricted")]).when(input);
    expect(flow.condition).toBeNull();
  });

  test("outlives a drop and the end of the grace period", () => {
    const { flow } = given(LINKED_LINE, [...TO_ONLINE, condition("replaced"), offline()]).when(graceEnded);
    expect(flow).toMatchObject({ state: "offline", condition: "replaced" });
  });

  test("has no effect on a closed line", () => {
    given(LINKED_LINE, [closing, closed]).ignores(condition("replaced", "too late"));
  });
});
