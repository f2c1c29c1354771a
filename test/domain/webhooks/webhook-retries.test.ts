import * as fc from "fast-check";
import { expect, test } from "vitest";
import { afterAttempt, isGone, RETRY_PAUSES_MS } from "../../../src/domain/webhooks/webhook-retries.ts";
import { fuzz } from "../../support/fuzz.ts";

const NOW = 1_700_000_000_000;

fuzz(
  "any 2xx delivers, 410 fails, and everything else is retried",
  fc.property(fc.integer({ min: 200, max: 599 }), (status) => {
    const result = afterAttempt({ attempts: 0 }, { status }, NOW, 0);
    const expected = status < 300 ? "delivered" : status === 410 ? "failed" : "pending";
    expect(result).toMatchObject({ status: expected, attempts: 1, lastStatus: status, lastAttemptAt: NOW });
    expect(result.lastError === null).toBe(status < 300);
  }),
);

test("the pauses follow Standard Webhooks, with up to 20% jitter", () => {
  const pauses: number[] = [];
  let attempts = 0;
  for (;;) {
    const earlyResult = afterAttempt({ attempts }, { error: "connection refused" }, NOW, 0);
    const lateResult = afterAttempt({ attempts }, { error: "connection refused" }, NOW, 1);
    attempts = earlyResult.attempts;
    if (earlyResult.nextAttemptAt === null || lateResult.nextAttemptAt === null) break;
    pauses.push(earlyResult.nextAttemptAt - NOW);
    expect(lateResult.nextAttemptAt - NOW).toBe(Math.round(1.2 * (earlyResult.nextAttemptAt - NOW)));
  }
  const [second, minute, hour] = [1_000, 60_000, 3_600_000];
  expect(pauses).toEqual([
    ...[5 * second, 5 * minute, 30 * minute],
    ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
  ]);
  expect(attempts).toBe(RETRY_PAUSES_MS.length + 1);
});

test("an exhausted delivery fails with its last error", () => {
  const result = afterAttempt({ attempts: RETRY_PAUSES_MS.length }, { status: 500 }, NOW, 0.5);
  expect(result).toMatchObject({ status: "failed", nextAttemptAt: null, lastError: "the endpoint responded with 500" });
});

test("a redirect is a failure with its fix", () => {
  expect(afterAttempt({ attempts: 0 }, { status: 302 }, NOW, 0).lastError).toMatch(/302; redirects are not followed/);
});

test("only 410 means that the endpoint no longer exists", () => {
  expect([200, 404, 410, 500].map((status) => isGone({ status }))).toEqual([false, false, true, false]);
  expect(isGone({ error: "timeout" })).toBe(false);
});
