import fc from "fast-check";
import { expect, test } from "vitest";
import { createLog } from "../../../adapters/cli/serve/log.ts";
import { maskNumbers } from "../../../adapters/cli/serve/mask-numbers.ts";

/** E.164: a country code, and 7 to 15 digits in total. */
const digits = fc.stringMatching(/^[1-9]\d{6,14}$/);
/** A national number without a plus, too long to be a year or a count. */
const longDigits = fc.stringMatching(/^[1-9]\d{8,14}$/);
const words = fc.stringMatching(/^[ a-zA-Zäß"\\\n\t/{}[\]:,]{0,20}$/);

function logText(pretty: boolean, fields: Record<string, unknown>, message: string): string {
  const lines: string[] = [];
  const log = createLog({ level: "info", pretty, maskNumbers: true, write: (line) => lines.push(line), now: () => 0 });
  log.info(fields, message);
  return lines.join("\n");
}

/** Every place in a log line where text can occur. */
function places(text: string): [fields: Record<string, unknown>, message: string][] {
  return [
    [{}, text],
    [{ path: `/v1/numbers/${encodeURIComponent(text)}?to=${encodeURIComponent(text)}` }, "request"],
    [{ to: text, all: [text, { deep: text }] }, "call queued"],
    [{ [text]: 1 }, "a key"],
    [{ err: new Error(text, { cause: new Error(`inner ${text}`) }) }, "it broke"],
  ];
}

test("no phone number ever reaches the log", () => {
  fc.assert(
    fc.property(digits, words, words, fc.boolean(), (number, before, after, pretty) => {
      for (const [fields, message] of places(`${before}+${number}${after}`))
        expect(logText(pretty, fields, message)).not.toContain(number);
    }),
  );
});

test("no number without a plus reaches the log, whether in an address or in a sentence", () => {
  fc.assert(
    fc.property(longDigits, fc.boolean(), (number, pretty) => {
      for (const text of [
        number,
        `sip:${number}@example.com`,
        `${number}@s.whatsapp.net`,
        `call ${number}.`,
        `\n${number}`,
      ])
        for (const [fields, message] of places(text)) expect(logText(pretty, fields, message)).not.toContain(number);
    }),
  );
});

test("a masked line is the same JSON except for numbers", () => {
  fc.assert(
    fc.property(fc.jsonValue(), digits, (value, number) => {
      const line = JSON.parse(logText(false, { value, to: `+${number}`, ms: 1_234_567_890_123 }, "x")) as Record<
        string,
        unknown
      >;
      expect(line).toMatchObject({ time: "1970-01-01T00:00:00.000Z", level: "info", msg: "x", ms: 1_234_567_890_123 });
      expect(line.to).toMatch(/^\+\d{1,4}•••\d{1,4}$/);
    }),
  );
});

test.each([
  ["+12025550100", "+1202•••0100"],
  ["to %2B12025550100 and +4930123456", "to %2B1202•••0100 and +493•••3456"],
  ["+1 (202) 555-0100", "+1202•••0100"],
  ["+1234567", "+1•••567"],
  ["call_01m803z2wye7mbzebbzakvq8pz", "call_01m803z2wye7mbzebbzakvq8pz"],
  ["f8b0a2ee-0c5a-4d7e-9d5e-123456789012", "f8b0a2ee-0c5a-4d7e-9d5e-123456789012"],
  ["2026-11-21T22:34:54.123Z, 17 ms, status 200", "2026-11-21T22:34:54.123Z, 17 ms, status 200"],
])("%s becomes %s", (text, maskedText) => {
  expect(maskNumbers(text)).toBe(maskedText);
});

test("numbers stay unmasked without the setting", () => {
  const lines: string[] = [];
  createLog({ level: "info", pretty: false, write: (line) => lines.push(line) }).info({ to: "+12025550100" }, "x");
  expect(lines[0]).toContain("+12025550100");
});
