import { expect, test } from "vitest";
import { plainCharacters } from "../../../src/domain/spoken-text/plain-characters.ts";

test.for([
  ["ｈｉ １２", "hi 12"],
  ["ﬁne ﬂat", "fine flat"],
  ["𝓗𝓮𝓵𝓵𝓸 𝟗𝟎", "Hello 90"],
  ["Ⅷ ③", "VIII  3 "],
  ["٣٤٥ ३४५ ๓", "345 345 3"],
  ["ﷲ", "الله"],
] as const)("%s becomes %s", ([text, expected]) => {
  expect(plainCharacters(text)).toBe(expected);
});

test.for(["你好，世界！", "1º ½ ² ™ ℃ n° №", "naïve Ångström", "ไทย ำ", "한국어 가나다", "😀 👍🏽", "O'Neill – “so”"])(
  "%s stays unchanged",
  (text) => {
    expect(plainCharacters(text)).toBe(text.normalize("NFC"));
  },
);

test("every decimal digit of Unicode becomes one from 0 to 9, in order", () => {
  for (let code = 0; code < 0x20000; code++) {
    const digit = String.fromCodePoint(code);
    if (!/^\p{Nd}$/u.test(digit)) continue;
    const value = Number(plainCharacters(digit));
    expect(value).toBeGreaterThanOrEqual(0);
    const next = String.fromCodePoint(code + 1);
    if (/^\p{Nd}$/u.test(next)) expect(Number(plainCharacters(next))).toBe((value + 1) % 10);
    else expect(value).toBe(9);
  }
});
