import * as fc from "fast-check";
import { expect, test } from "vitest";
import { heardShare, heardWith } from "../../../src/domain/calls/heard.ts";
import { fuzz } from "../../support/fuzz.ts";

test("only a message without gaps is heard in full", () => {
  expect(heardShare(600_000, 600_000, 1)).toBe(1);
  expect(heardShare(600_000, 600_000, 1 - 1e-9)).toBe(0.9999);
  expect(heardShare(599_999, 600_000, 1)).toBe(1);
  expect(heardShare(599_998, 600_000, 1)).toBe(0.9999);
  expect(heardShare(490, 1_000, 1)).toBe(0.49);
  expect(heardShare(1_000, 1_000, 0.4)).toBe(0.4);
  expect(heardShare(0, 0, 1)).toBe(0);
});

test("without evidence of its arrival a message has no share, however much was played", () => {
  for (const heardMs of [0, 490, 1_000]) {
    expect(heardWith("none", heardMs, heardMs / 1_000)).toEqual({ heardMs, heardRatio: null, heardEvidence: "none" });
    for (const evidence of ["inbound", "rtcp"] as const)
      expect(heardWith(evidence, heardMs, heardMs / 1_000).heardRatio).toBe(heardMs / 1_000);
  }
});

fuzz(
  "a share is from 0 to 1, and exceeds the exact one only by rounding",
  fc.property(
    fc.nat(600_000),
    fc.integer({ min: 1, max: 600_000 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (heardMs, soundMs, playable) => {
      const heard = Math.min(heardMs, soundMs);
      const share = heardShare(heard, soundMs, playable);
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share - (heard / soundMs) * playable).toBeLessThanOrEqual(0.000_1 + 1 / soundMs);
      expect(share === 1).toBe(heard > 0 && heard >= soundMs - 1 && playable === 1);
    },
  ),
);
