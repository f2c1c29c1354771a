import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applicableConsent,
  calleeBlock,
  type DialledCallee,
  decideDial,
  instancePause,
} from "../../../src/domain/dialling-rules/all-dialling-rules.ts";
import type { DialHistory, DialRecord } from "../../../src/domain/dialling-rules/dial-history.ts";
import { type NumberProtection, protectionInForce } from "../../../src/domain/dialling-rules/number-protection.ts";
import { paceDelayMs } from "../../../src/domain/dialling-rules/pace.ts";
import { DAY_MS, warmUpLimit } from "../../../src/domain/dialling-rules/warm-up.ts";
import { fuzz } from "../../support/fuzz.ts";

const NOW = Date.UTC(2026, 5, 17, 12); // a Wednesday
const HOUR_MS = 3_600_000;
const CALLEE: DialledCallee = { phone: "+12025550100", consent: undefined, zones: [] };
const NO_HISTORY: DialHistory = { linkedAt: 0, history: [], sinceLastDialMs: undefined, chance: 0 };
const WARM_UP = { firstDay: 3, growth: 1.5, days: 4 };

/** Dials that ended a minute later, newest first. @param ages time of each, ms before now */
function dials(ages: readonly number[], answered: readonly boolean[] = []): DialRecord[] {
  return ages.map((ms, index) => ({
    callId: `call_${index}`,
    at: NOW - ms,
    endedAt: NOW - ms + 60_000,
    answered: answered[index] ?? false,
  }));
}

function decide(
  protection: NumberProtection,
  callee: Partial<DialledCallee>,
  dialHistory: Partial<DialHistory>,
  waitsUntil = NOW,
) {
  return decideDial(protection, { ...CALLEE, ...callee }, { ...NO_HISTORY, ...dialHistory }, { now: NOW, waitsUntil });
}

describe("the protection in force", () => {
  test("is the network's, except for the fields that the operator names", () => {
    const network = { paceMs: 5_000, paceJitter: 0.5, warmUp: WARM_UP };
    expect(protectionInForce({ paceMs: 1_000, warmUp: false }, network)).toEqual({
      paceMs: 1_000,
      paceJitter: 0.5,
      warmUp: false,
    });
    expect(protectionInForce({}, undefined)).toEqual({});
  });

  test("is off by default: calls dial immediately", () => {
    expect(decide({}, {}, { history: dials([0, 0, 0]), sinceLastDialMs: 0 })).toEqual({ do: "dial" });
  });
});

describe("consents", () => {
  test.each([{}, { requireConsent: true }])("a do-not-call entry counts under %j", (protection) => {
    expect(decide(protection, { consent: "do_not_call" }, {})).toEqual({
      do: "block",
      reason: "blocked_do_not_call",
      detail: "+12025550100 is recorded as a number that must not be called",
    });
  });

  test("a forbidden form of a number takes precedence over its other forms", () => {
    expect(applicableConsent([])).toBeUndefined();
    expect(applicableConsent(["granted"])).toBe("granted");
    expect(applicableConsent(["granted", "do_not_call"])).toBe("do_not_call");
    expect(applicableConsent(["do_not_call", "granted"])).toBe("do_not_call");
  });

  test("a missing consent blocks only if required", () => {
    expect(calleeBlock({}, CALLEE, NOW)).toBeUndefined();
    expect(calleeBlock({ requireConsent: true }, CALLEE, NOW)?.reason).toBe("blocked_no_consent");
    expect(calleeBlock({ requireConsent: true }, { ...CALLEE, consent: "granted" }, NOW)).toBeUndefined();
  });
});

describe("the pace", () => {
  test("counts from the last dial", () => {
    expect(paceDelayMs({ paceMs: 2_000 }, { sinceLastDialMs: undefined, chance: 1 })).toBe(0);
    expect(paceDelayMs({ paceMs: 2_000 }, { sinceLastDialMs: 500, chance: 1 })).toBe(1_500);
    expect(paceDelayMs({ paceMs: 2_000 }, { sinceLastDialMs: 2_000, chance: 1 })).toBe(0);
    expect(paceDelayMs({}, { sinceLastDialMs: 0, chance: 1 })).toBe(0);
  });

  test("is longer by a random share", () => {
    const protection = { paceMs: 2_000, paceJitter: 0.5 };
    expect(paceDelayMs(protection, { sinceLastDialMs: 0, chance: 0 })).toBe(2_000);
    expect(paceDelayMs(protection, { sinceLastDialMs: 0, chance: 0.5 })).toBe(2_500);
  });

  test("makes a call wait, however long its queue timeout is", () => {
    expect(decide({ paceMs: 9_000 }, {}, { sinceLastDialMs: 1_000 })).toEqual({
      do: "wait",
      until: NOW + 8_000,
      reason: "calls are dialled 9000 ms apart",
    });
  });
});

describe("the warm-up curve", () => {
  test("grows from day to day, and ends", () => {
    expect([0, 1, 2, 3, 4].map((day) => warmUpLimit(WARM_UP, day))).toEqual([3, 4, 6, 10, Infinity]);
  });

  test("allows the next call when the oldest of the day is 24 hours old", () => {
    const history = dials([1, 2, 22].map((hours) => hours * HOUR_MS));
    const pause = instancePause({ warmUp: { ...WARM_UP, growth: 1 } }, { history, linkedAt: NOW - HOUR_MS }, NOW);
    expect(pause?.until).toBe(NOW + 2 * HOUR_MS);
    expect(pause?.reason).toBe(
      "3 calls were dialled in 24 hours, as many as this number may place on day 1 of 4 after its linking: the next call is not dialled before 2026-06-17T14:00:00.000Z",
    );
  });

  test("allows the next call earlier if the next day's limit is higher", () => {
    const history = dials([HOUR_MS, HOUR_MS, HOUR_MS]);
    const dialHistory = { history, linkedAt: NOW - DAY_MS + HOUR_MS };
    expect(instancePause({ warmUp: WARM_UP }, dialHistory, NOW)?.until).toBe(NOW + HOUR_MS);
    expect(instancePause({ warmUp: { ...WARM_UP, days: 1 } }, dialHistory, NOW)?.until).toBe(NOW + HOUR_MS);
    expect(instancePause({ warmUp: WARM_UP }, dialHistory, NOW + HOUR_MS)).toBeUndefined();
  });

  test("ends after its last day", () => {
    const history = dials(Array.from({ length: 50 }, () => HOUR_MS));
    expect(instancePause({ warmUp: WARM_UP }, { history, linkedAt: NOW - 4 * DAY_MS }, NOW)).toBeUndefined();
  });

  test("does not count dials more than a day ahead, which would use up the curve", () => {
    const history = dials([-2 * DAY_MS, -2 * DAY_MS, -2 * DAY_MS, 1, 1]);
    expect(instancePause({ warmUp: WARM_UP }, { history, linkedAt: NOW }, NOW)).toBeUndefined();
  });

  test("counts a dial in the future after the clock was set back", () => {
    const history = dials([-HOUR_MS, 1, 1]);
    expect(instancePause({ warmUp: WARM_UP }, { history, linkedAt: NOW }, NOW)).toBeDefined();
  });
});

describe("the answer rate", () => {
  const answerRate = { floor: 0.5, calls: 4, pauseMs: 10 * HOUR_MS };

  test("pauses the instance from the end of its last call", () => {
    const history = dials(
      [1, 2, 3, 4].map((hours) => hours * HOUR_MS),
      [false, true],
    );
    const pause = instancePause({ answerRate }, { history, linkedAt: 0 }, NOW);
    expect(pause?.until).toBe(NOW + 9 * HOUR_MS + 60_000);
    expect(pause?.reason).toBe(
      "1 of the last 4 calls were answered, fewer than 50 %: the next call is not dialled before 2026-06-17T21:01:00.000Z",
    );
  });

  test.each([
    { what: "the floor is reached", answered: [false, true, true, false], calls: 4 },
    { what: "there are too few calls to judge", answered: [false, false, false], calls: 3 },
  ])("does not pause if $what", ({ answered, calls }) => {
    const history = dials(
      Array.from({ length: calls }, () => HOUR_MS),
      answered,
    );
    expect(instancePause({ answerRate }, { history, linkedAt: 0 }, NOW)).toBeUndefined();
  });

  test("counts only the last calls, and pauses no longer than pauseMs", () => {
    const history = dials(
      [11, 12, 13, 14, 15].map((hours) => hours * HOUR_MS),
      [false, false, false, false, true],
    );
    expect(instancePause({ answerRate }, { history, linkedAt: 0 }, NOW)).toBeUndefined();
    expect(instancePause({ answerRate }, { history, linkedAt: 0 }, NOW - HOUR_MS)).toBeDefined();
  });

  test("ignores dials recorded by a fast clock", () => {
    const futureDials = dials(Array.from({ length: 4 }, () => -365 * DAY_MS));
    expect(instancePause({ answerRate }, { history: futureDials, linkedAt: 0 }, NOW)).toBeUndefined();
    const pastDials = dials(Array.from({ length: 4 }, () => 1_000)).map((dial) => ({
      ...dial,
      endedAt: NOW + 365 * DAY_MS,
    }));
    const pause = instancePause({ answerRate }, { history: [...futureDials, ...pastDials], linkedAt: 0 }, NOW);
    expect(pause?.until).toBe(NOW + answerRate.pauseMs);
  });

  test("lets a call wait only if the pause ends within its queue time", () => {
    const dialHistory = { history: dials([HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS]) };
    const until = NOW + 9 * HOUR_MS + 60_000;
    expect(decide({ answerRate }, {}, dialHistory, until)).toMatchObject({ do: "wait", until });
    expect(decide({ answerRate }, {}, dialHistory, until - 1)).toMatchObject({
      do: "block",
      reason: "instance_paused",
      detail: expect.stringContaining("0 of the last 4 calls"),
    });
  });
});

/** Simulates dials on a clock that advances by `moments`; returns the times of the dials. */
function simulate(protection: NumberProtection, moments: readonly number[], chances: readonly number[]): number[] {
  const history: DialRecord[] = [];
  let now = NOW;
  for (const [index, ms] of moments.entries()) {
    now += ms;
    const last = history[0]?.at;
    const dialHistory: DialHistory = {
      linkedAt: NOW,
      history,
      sinceLastDialMs: last === undefined ? undefined : now - last,
      chance: chances[history.length % chances.length] ?? 0,
    };
    const decision = decideDial(protection, CALLEE, dialHistory, { now, waitsUntil: Infinity });
    if (decision.do === "wait") expect(decision.until).toBeGreaterThan(now);
    if (decision.do === "dial")
      history.unshift({ callId: `call_${index}`, at: now, endedAt: now + 1, answered: index % 3 === 0 });
  }
  return history.map(({ at }) => at).reverse();
}

const moments = fc.array(fc.oneof(fc.nat(10_000), fc.nat(HOUR_MS), fc.nat(DAY_MS)), { maxLength: 200 });
const chances = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 });

fuzz(
  "two dials are never closer than the pace",
  fc.property(
    moments,
    chances,
    fc.integer({ min: 1, max: HOUR_MS }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (...args) => {
      const [steps, random, paceMs, paceJitter] = args;
      const dialTimes = simulate({ paceMs, paceJitter }, steps, random);
      for (const [index, laterDial] of dialTimes.slice(1).entries())
        expect(laterDial - (dialTimes[index] ?? 0)).toBeGreaterThanOrEqual(paceMs);
    },
  ),
);

const curves = fc.record({
  firstDay: fc.integer({ min: 1, max: 10 }),
  growth: fc.double({ min: 1, max: 3, noNaN: true }),
  days: fc.integer({ min: 1, max: 10 }),
});

fuzz(
  "no period of 24 hours has more dials than the curve allows",
  fc.property(moments, curves, (steps, warmUp) => {
    const dialTimes = simulate({ warmUp }, steps, [0]);
    for (const last of dialTimes) {
      const dialsOfDay = dialTimes.filter((other) => other <= last && other > last - DAY_MS).length;
      expect(dialsOfDay).toBeLessThanOrEqual(warmUpLimit(warmUp, Math.floor((last - NOW) / DAY_MS)));
    }
  }),
);

fuzz(
  "a pause for the curve ends when a call may be dialled, and no earlier",
  fc.property(fc.array(fc.nat(DAY_MS), { maxLength: 60 }), fc.nat(5 * DAY_MS), curves, (ages, age, warmUp) => {
    const dialHistory = { history: dials([...ages].sort((a, b) => a - b)), linkedAt: NOW - age };
    const pause = instancePause({ warmUp }, dialHistory, NOW);
    if (!pause) return;
    expect(instancePause({ warmUp }, dialHistory, pause.until)).toBeUndefined();
    expect(instancePause({ warmUp }, dialHistory, pause.until - 1)).toBeDefined();
  }),
);
