import { describe, expect, test } from "vitest";
import { batchOf } from "../../../adapters/cli/batch/batch-options.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

function batch(options: Readonly<Record<string, string>>, file = "/data/people.csv") {
  return batchOf(
    { values: new Map(Object.entries({ text: "Olá {{nome}}", ...options })), operands: [file] },
    file,
    NOW,
  );
}

describe("the batch that options describe", () => {
  test("has the file's name and the default voice", async () =>
    expect(await batch({})).toEqual({
      name: "people",
      message: { type: "FIXED_TTS", tts: { text: "Olá {{nome}}", voiceId: "en-US-1" } },
    }));

  test("has the schedule, the retries and the limits", async () => {
    const options = {
      at: "2026-12-01T10:00Z",
      until: "+8h",
      hours: "9:00-18:00",
      days: "1-3,5",
      zone: "Europe/Lisbon",
      retry: "busy,no-answer:2",
      "retry-after": "30m",
      "max-concurrent": "3",
      gap: "1d",
      "on-machine": "hang_up",
      name: "Reminder",
      voice: "pt-BR-1",
    };
    expect(await batch(options)).toEqual({
      name: "Reminder",
      message: { type: "FIXED_TTS", tts: { text: "Olá {{nome}}", voiceId: "pt-BR-1" } },
      schedule: {
        startAt: "2026-12-01T10:00:00.000Z",
        endAt: "2026-12-01T18:00:00.000Z",
        hours: { from: "09:00", to: "18:00", days: [1, 2, 3, 5] },
        zone: "Europe/Lisbon",
      },
      retry: { on: ["busy", "no_answer"], times: 2, afterMs: 1_800_000 },
      maxConcurrent: 3,
      gapMs: 86_400_000,
      onMachine: "hang_up",
    });
  });

  test("can have no circuit breaker", async () => {
    const values = new Map<string, string | boolean>([
      ["text", "Hello"],
      ["no-breaker", true],
    ]);
    expect((await batchOf({ values, operands: ["people.csv"] }, "people.csv", NOW)).breaker).toBe(false);
  });

  test("days without hours last from midnight to midnight", async () =>
    expect((await batch({ days: "6,7" })).schedule).toEqual({ hours: { from: "00:00", to: "24:00", days: [6, 7] } }));

  test.each([
    [{ hours: "18:00-09:00" }, '--hours is "18:00-09:00"'],
    [{ hours: "9-18" }, '--hours is "9-18"'],
    [{ days: "0-5" }, '--days is "0-5"'],
    [{ days: "5-1" }, '--days is "5-1"'],
    [{ zone: "callee" }, "add --hours or --days"],
    [{ at: "+2h", until: "+0s" }, '--until is "+0s"'],
    [{ at: "2026-12-02T10:00Z", until: "2026-12-01T10:00Z" }, 'not later than --at "2026-12-02T10:00Z"'],
    [{ retry: "bussy" }, '--retry names "bussy" (did you mean busy?)'],
    [{ retry: "busy:30" }, "a whole number from 1 to 20"],
    [{ "retry-after": "15m" }, "--retry-after needs --retry"],
    [{ gap: "31d" }, '--gap is "31d": it must be at most 30d'],
    [{ retry: "busy", "retry-after": "721h" }, '--retry-after is "721h": it must be at most 30d'],
    [{ "max-concurrent": "0" }, '--max-concurrent is "0"'],
    [{ "agent-instructions": "Ask." }, "leave out --text"],
  ])("%j is refused with the value and the fix", async (options, message) =>
    expect(batch(options)).rejects.toThrow(message),
  );
});
