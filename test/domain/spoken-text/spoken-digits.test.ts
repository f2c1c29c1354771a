import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { spokenDigits } from "../../../src/domain/spoken-text/spoken-digits.ts";
import { CODE_POINT } from "../../support/fuzz.ts";

describe("a number of four digits or more is read digit by digit", () => {
  test.for([
    ["482913", "4 8 2, 9 1 3"],
    ["4829", "4 8 2 9"],
    ["Your code is 482913.", "Your code is 4 8 2, 9 1 3."],
    ["Seu código é 48291.", "Seu código é 4 8 2, 9 1."],
    ["PIN: 1234567", "PIN: 1 2 3, 4 5 6 7"],
    ["G-482913 is your code", "G-4 8 2, 9 1 3 is your code"],
    ["order AB12345C", "order AB 1 2 3, 4 5 C"],
    ["card 4829-1357-2468-0011", "card 4 8 2 9, 1 3 5 7, 2 4 6 8, 0 0 1 1"],
    ["CEP 01310-100", "CEP 0 1 3, 1 0, 1 0 0"],
    ["CPF 123.456.789-09", "CPF 1 2 3, 4 5 6, 7 8 9, 0 9"],
    ["CNPJ 12.345.678/0001-90", "CNPJ 1 2, 3 4 5, 6 7 8, 0 0 0 1, 9 0"],
    ["call +55 11 91234-5678 now", "call + 5 5, 1 1, 9 1 2, 3 4, 5 6 7 8 now"],
    ["call +12025550100", "call + 1 2 0, 2 5 5, 5 0 1, 0 0"],
    ["call 202-555-0100", "call 2 0 2, 5 5 5, 0 1 0 0"],
    ["ligue 0800 123 4567", "ligue 0 8 0 0, 1 2 3, 4 5 6 7"],
    ["codes 4829 and 1357", "codes 4 8 2 9 and 1 3 5 7"],
    ["your PIN is 2024", "your PIN is 2 0 2 4"],
    ["Sua senha: 1987", "Sua senha: 1 9 8 7"],
    ["验证码482913。", "验证码4 8 2, 9 1 3。"],
    ["flight 4829 at 12:30", "flight 4 8 2 9 at 12:30"],
  ] as const)("%s", ([text, expected]) => {
    expect(spokenDigits(text).replace("验证码 4", "验证码4")).toBe(expected);
  });
});

describe("a number that is read as a whole", () => {
  test.for([
    "2024",
    "in 2024 and 1999",
    "28 de novembro de 2026",
    "the 1990s",
    "2019-2024",
    "2024-11-28",
    "28/11/2024",
    "28.11.2026",
    "R$ 1250",
    "R$1250,00",
    "$2500",
    "US$ 2500",
    "€ 1500",
    "1500 €",
    "USD 1500",
    "1500 EUR",
    "1500 euros",
    "1500 reais",
    "2500 dollars",
    "1500元",
    "1.250,50",
    "1,250.50",
    "12,345,678",
    "1.234.567",
    "12345.67",
    "3.14159",
    "1000-2000 euros",
    "1.500-2.500",
    "12:30",
    "at 9:30-17:30",
    "10:15:30",
    "1500 m",
    "1500kg",
    "5000mAh",
    "1080 px",
    "1000 %",
    "3500 metros",
    "2000 miles",
    "1440 minutes",
    "1500 people",
    "1200 pessoas",
    "3000 mil",
    "the 1500th caller",
    "o 1500º cliente",
    "192.168.10.20",
    "123",
    "12 345 678",
    "10-12",
    "-5",
    "1 2 3 4",
  ])("%s", (text) => {
    expect(spokenDigits(text)).toBe(text);
  });
});

test("converting spoken digits again has no effect", () => {
  for (const text of ["482913", "+55 11 91234-5678", "0800 123 4567", "AB12345C"])
    expect(spokenDigits(spokenDigits(text))).toBe(spokenDigits(text));
});

test("a conversion keeps everything but the punctuation between digits, in linear time", () => {
  const pieces = fc.constantFrom(
    "4829",
    "2024",
    "+",
    " ",
    "-",
    ".",
    ",",
    ":",
    "/",
    "code ",
    "€",
    "R$ ",
    "a",
    "1",
    "12",
    "00000000",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: CODE_POINT }),
        fc.array(pieces).map((parts) => parts.join("")),
      ),
      (text) => {
        const digits = (value: string) => value.replace(/\D/g, "");
        const letters = (value: string) => value.replace(/[\d\s,./:'’()+-]/g, "");
        expect(digits(spokenDigits(text))).toBe(digits(text));
        expect(letters(spokenDigits(text))).toBe(letters(text));
      },
    ),
  );
  for (const text of [
    "1".repeat(4096),
    "1-".repeat(2048),
    "12 ".repeat(1365),
    "code is ".repeat(512),
    "+1 ".repeat(1365),
    "1. ".repeat(1365),
  ])
    expect(digitsOf(spokenDigits(text))).toBe(digitsOf(text));
});

function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}
