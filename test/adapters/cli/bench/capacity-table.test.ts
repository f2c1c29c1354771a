import { describe, expect, test } from "vitest";
import { benchSeconds } from "../../../../adapters/cli/bench/bench.ts";
import {
  CAPACITY_COLUMNS,
  capacityCells,
  capacityRow,
  type Measurement,
  progressText,
} from "../../../../adapters/cli/bench/capacity-table.ts";
import type { Trial } from "../../../../adapters/cli/bench/ramp.ts";
import { fitTable } from "../../../../adapters/cli/terminal/table.ts";

const trial: Trial = { count: 20, p99: 1, max: 2, sent: 1, received: 1, underruns: 0, processor: 0.04, memory: 1e8 };
const job = { kind: "calls", codec: "PCMU", srtp: true } as const;
const measured: Measurement = {
  job,
  limits: { maxP99Ms: 5, maxCount: 1_000 },
  trials: [
    trial,
    { ...trial, count: 220, p99: 3.14, processor: 0.5, memory: 1e8 + 200 * 100 * 1024 },
    { ...trial, count: 300, p99: 7.25, limit: "lateness" },
  ],
};

describe("a row", () => {
  test("names the measured figures and the limit", () => {
    expect(capacityCells(measured)).toEqual([
      "calls, G.711, SRTP",
      "220",
      "440",
      "100 KiB",
      "lateness p99 7.3 ms, limit 5 ms, with 300",
    ]);
    expect(capacityRow(measured)).toEqual({
      kind: "calls",
      codec: "G.711",
      encryption: "srtp",
      at_once: 220,
      limit: "lateness p99 7.3 ms, limit 5 ms, with 300",
      per_core: 440,
      memory_bytes: 102_400,
      lateness_p99_ms: 3.1,
      processor: 0.5,
    });
  });

  test("leaves unknown what was not measured, with the reason", () => {
    const unmeasured = { ...measured, trials: [], obstacle: "the codec cannot be used here" };
    const cells = ["calls, G.711, SRTP", "unknown", "unknown", "unknown", "the codec cannot be used here"];
    expect(capacityCells(unmeasured)).toEqual(cells);
    expect(capacityRow(unmeasured)).toMatchObject({ at_once: null, per_core: null, memory_bytes: null });
  });

  test.each([
    ["processor", "97 % of a core with 300"],
    ["unsent", "98.0 % of frames sent, limit 99.5 %, with 300"],
    ["unreturned", "96.0 % of frames returned, limit 99.0 %, with 300"],
    ["underruns", "4 frames without audio with 300"],
  ] as const)("explains the limit %s", (limit, text) => {
    const exceeded: Trial = { ...trial, count: 300, processor: 0.97, sent: 0.98, received: 0.96, underruns: 4, limit };
    expect(capacityRow({ ...measured, trials: [trial, exceeded] }).limit).toBe(text);
  });

  test("says so if the time ended before any limit", () =>
    expect(capacityRow({ ...measured, trials: [trial] }).limit).toBe("none reached in this time"));

  test("names the number that a server accepts, if no smaller one failed", () => {
    const limits = { maxP99Ms: 5, maxCount: 20 };
    expect(capacityRow({ ...measured, trials: [trial], limits }).limit).toBe("a server on this runtime accepts 20");
  });

  test("fits a terminal of 80 columns", () => {
    const lines = fitTable(CAPACITY_COLUMNS, [capacityCells(measured)], 80);
    expect(lines).toHaveLength(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

test("a row of streams has no codec", () => {
  const streams: Measurement = { ...measured, job: { kind: "streams" } };
  expect(capacityCells(streams)[0]).toBe("live streams");
  expect(capacityRow(streams)).toMatchObject({ kind: "streams", codec: null, encryption: null, at_once: 220 });
});

test("the progress names the time, the job and the number", () => {
  expect(progressText(12_000, 110_000, job, trial)).toBe("12.0 s of 110.0 s, calls, G.711, SRTP: 20");
  expect(progressText(120_000, 110_000, job, undefined)).toBe("110.0 s of 110.0 s, calls, G.711, SRTP");
});

test("--seconds is a whole number from 5 to 600, by default 110", () => {
  const seconds = (...values: string[]) =>
    benchSeconds({ operands: [], values: new Map(values.map((v) => ["seconds", v])) });
  expect([seconds(), seconds("5")]).toEqual([110, 5]);
  for (const value of ["4", "601", "1.5", "many"])
    expect(() => seconds(value)).toThrow(`--seconds is "${value}": it must be a whole number from 5 to 600`);
});
