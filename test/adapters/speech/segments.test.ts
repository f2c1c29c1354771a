import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { segments } from "../../../adapters/speech/segments.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

describe("segments of a text", () => {
  test("are sentences; short ones are joined", () => {
    const text =
      "Dr. Smith called. She will call again tomorrow at ten o'clock in the morning! Is that all right with you, or is it not?";
    expect(segments(text)).toEqual([
      "Dr. Smith called. She will call again tomorrow at ten o'clock in the morning!",
      "Is that all right with you, or is it not?",
    ]);
  });

  test("keep numbers, times and lists of digits together", () => {
    expect(segments("Your code is 4. 7. 1. 9. It costs 3.50 at 10:30.")).toEqual([
      "Your code is 4. 7. 1. 9. It costs 3.50 at 10:30.",
    ]);
  });

  test("end at a line break", () => {
    expect(segments("Opening hours\nMonday to Friday")).toEqual(["Opening hours. Monday to Friday"]);
  });

  test("end at a comma within a long sentence, or else at a space", () => {
    const clause = `${"word ".repeat(40).trim()}, `;
    const [first = "", second = ""] = segments(clause.repeat(2));
    expect(first).toBe(clause.trim());
    expect(second).toBe(clause.trim());
    for (const segment of segments("word ".repeat(200))) expect(segment).toMatch(/^word( word)*$/);
  });

  test("split words of more than 40 letters between characters", () => {
    expect(segments("a".repeat(100))).toEqual([`${"a".repeat(40)} ${"a".repeat(40)} ${"a".repeat(20)}`]);
    expect(segments("é".repeat(50)).join("").replaceAll(" ", "")).toBe("é".repeat(50));
    expect(segments("e\u0301".repeat(50)).join(" ")).not.toMatch(/ \u0301/);
  });

  test("end at other scripts' full stops", () => {
    expect(segments(`${"今天天气很好".repeat(7)}。${"我们去公园散步".repeat(7)}。`)).toHaveLength(2);
  });

  test("contain no control characters", () => {
    expect(segments("one\0two\u0007three\u001b")).toEqual(["one two three"]);
    expect(segments(" \0 \n ")).toEqual([]);
    expect(segments("")).toEqual([]);
  });

  fuzz(
    "have 1 to 300 characters, and together every letter of the text in order",
    fc.property(fc.string({ unit: CODE_POINT, maxLength: 1500 }), (text) => {
      const parts = segments(text);
      for (const segment of parts) {
        expect(segment.length).toBeLessThanOrEqual(300);
        expect(segment.trim()).not.toBe("");
        expect(segment).not.toMatch(/\p{Cc}|\p{Cs}|\S{82,}/u);
      }
      const letters = (value: string): string => value.replace(/[^\p{L}\p{N}]/gu, "");
      expect(letters(parts.join(" "))).toBe(letters(text));
    }),
  );
});
