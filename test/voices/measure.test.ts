import { expect, test } from "vitest";
import { LINES, measure } from "./measure.ts";
import type { Trial } from "./trials.ts";

test("a voice that fails is named with its fault, and not all of its sentences are tried", async () => {
  const trial: Trial = {
    voiceId: "pt-BR-50",
    engine: "neural",
    model: "broken",
    language: "pt",
    recogniser: "any",
    sentences: Array.from({ length: 10 }, (_, number) => `sentence ${number}`),
  };
  const lines: string[] = [];
  let callCount = 0;
  const hear = async () => {
    callCount++;
    throw new Error("speech_failed: no such model");
  };
  const measurements = await measure([trial], {
    phone: { hear },
    folder: "/nowhere",
    report: (line) => lines.push(line),
  });
  expect(measurements[0]).toEqual({ trial, fault: "speech_failed: no such model" });
  expect(lines[0]).toBe("1/10  pt-BR-50  failed: speech_failed: no such model");
  expect(callCount).toBeLessThanOrEqual(LINES);
});
