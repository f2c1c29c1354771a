import { expect, test } from "vitest";
import { EXIT_CODES_HELP, exitCodeOf } from "../../../adapters/cli/exit-codes.ts";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../../src/domain/calls/outcome.ts";

const heard = { heard_ms: 0, heard_ratio: 0, heard_evidence: "none" } as const;
const outcome = { detail: null, answered_by: null, ...heard, duration_ms: 0 };

test("every completed call exits with 0, every failed one with a documented code", () => {
  for (const reason of COMPLETED_REASONS)
    expect(exitCodeOf({ status: "COMPLETED", outcome: { ...outcome, reason } })).toBe(0);
  for (const reason of FAILED_REASONS) {
    const code = exitCodeOf({ status: "FAILED", outcome: { ...outcome, reason } });
    expect(code, reason).toBeGreaterThan(0);
    expect(EXIT_CODES_HELP).toContain(` ${code} `);
  }
});

test.each([
  ["busy", 3],
  ["declined", 4],
  ["no_answer", 5],
  ["unreachable", 6],
  ["number_invalid", 6],
  ["terminated", 1],
] as const)("%s exits with %i", (reason, code) => {
  expect(exitCodeOf({ status: "FAILED", outcome: { ...outcome, reason } })).toBe(code);
});
