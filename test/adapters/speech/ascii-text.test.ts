import { expect, test } from "vitest";
import { asciiText } from "../../../adapters/speech/ascii-text.ts";

test("letters lose their accents, and symbols become words", () => {
  expect(asciiText("Ångström, naïve cœur, Łódź, Đorđe, Strauß, İstanbul")).toBe(
    "Angstrom, naive coeur, lodz, dorde, Strauss, Istanbul",
  );
  expect(asciiText("5° ½ £3 ‘so’ “it” goes…").replace(/ +/g, " ")).toBe(
    "5 degrees one half pounds 3 'so' \"it\" goes...",
  );
});

test("every letter of European languages and of Vietnamese has an equivalent", () => {
  const unmappedLetters: string[] = [];
  for (const [first, last] of [
    [0xc0, 0x17f],
    [0x1e00, 0x1ef9],
  ] as const)
    for (let code = first; code <= last; code++) {
      const letter = String.fromCodePoint(code);
      if (/\p{L}/u.test(letter) && !/[a-z]/i.test(asciiText(letter))) unmappedLetters.push(letter);
    }
  expect(unmappedLetters).toEqual([]);
});
