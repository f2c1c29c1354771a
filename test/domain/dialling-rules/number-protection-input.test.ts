import { expect, test } from "vitest";
import type { NumberProtection } from "../../../src/domain/dialling-rules/number-protection.ts";
import { assertUsable } from "../../../src/domain/dialling-rules/number-protection-input.ts";

const WARM_UP = { firstDay: 20, growth: 1.5, days: 14 };
const RATE = { floor: 0.2, calls: 20, pauseMs: 3_600_000 };
const HOURS = { from: "08:00", until: "20:00" };

test.each<NumberProtection>([
  {},
  { paceMs: 0, paceJitter: 1, warmUp: WARM_UP, answerRate: RATE, requireConsent: true, callingHours: HOURS },
  { warmUp: false, answerRate: false, callingHours: false },
  { callingHours: { ...HOURS, until: "24:00", days: [1, 7] } },
])("the protection %j is usable", (protection) => {
  expect(() => assertUsable(protection, "queue")).not.toThrow();
});

test.each<[NumberProtection, string]>([
  [{ paceMs: -1 }, "paceMs is -1"],
  [{ paceMs: Number.NaN }, "paceMs is null"],
  [{ paceJitter: 1.1 }, "paceJitter is 1.1"],
  [{ warmUp: { ...WARM_UP, firstDay: 0 } }, "warmUp is"],
  [{ warmUp: { ...WARM_UP, growth: 0.9 } }, "warmUp is"],
  [{ warmUp: { ...WARM_UP, days: 60 } }, "warmUp is"],
  [{ answerRate: { ...RATE, floor: 0 } }, "answerRate is"],
  [{ answerRate: { ...RATE, calls: 2.5 } }, "answerRate is"],
  [{ answerRate: { ...RATE, pauseMs: Infinity } }, "answerRate is"],
  [{ callingHours: { from: "20:00", until: "08:00" } }, "callingHours is"],
  [{ callingHours: { from: "8", until: "20:00" } }, "callingHours is"],
  [{ callingHours: { ...HOURS, days: [] } }, "callingHours is"],
  [{ callingHours: { ...HOURS, days: [0] } }, "callingHours is"],
  [{ callingHours: { ...HOURS, days: "1" as never } }, "callingHours is"],
  [{ outsideHours: "queue" as never }, 'outsideHours is "queue": it must be "wait" or "fail"'],
])("the protection %j is refused: %s", (protection, message) => {
  expect(() => assertUsable(protection, "queue")).toThrow(RangeError);
  expect(() => assertUsable(protection, "queue")).toThrow(`queue: ${message}`);
});
