import { describe, expect, test } from "vitest";
import { impairedCall } from "./impaired-call.ts";
import { eModel, IMPAIRMENTS } from "./impairments.ts";

/**
 * Tolerance of the MOS: a session without RTCP does not know the network delay, and 20 ms are at most half a step of R.
 */
const MOS_TOLERANCE = 0.1;

describe("audio through a network with", () => {
  test.each(IMPAIRMENTS)("$title: gaps, delay and the reported MOS", (impairment) => {
    const { conditions, ppm, beyondModel } = impairment;
    const call = impairedCall({ conditions, seconds: ppm === undefined ? 60 : 300, ...(ppm !== undefined && { ppm }) });
    if (conditions.loss) expect(call.loss).toBeGreaterThan(conditions.loss / 2);
    if (conditions.meanBurst) expect(call.meanBurst).toBeGreaterThan(2);
    expect(call.concealedMs).toBeLessThanOrEqual(impairment.concealedMs);
    expect(call.concealedMs).toBeGreaterThanOrEqual(0.9 * call.loss * 60_000); // lost packets cannot have been heard
    expect(call.gaps).toBeLessThanOrEqual(impairment.gaps);
    expect(call.delayMs).toBeLessThanOrEqual(impairment.delayMs);
    expect(call.lastDelayMs).toBeLessThanOrEqual(impairment.delayMs);
    if (!beyondModel) expect(Math.abs(call.mos - eModel(call))).toBeLessThan(MOS_TOLERANCE);
  });
});
