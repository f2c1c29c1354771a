import { expect, test } from "vitest";
import { plainNumber } from "../../../src/domain/numbers/phone-number.ts";

test.each([
  ["+55 (11) 99100-0700", "+5511991000700"],
  ["0055 11 99100.0700", "+5511991000700"],
  ["(11) 99100-0700", "(11) 99100-0700"],
  ["1 202 555 0100", "1 202 555 0100"],
  ["+12", "+12"],
  ["+1 202 CALL 0100", "+1 202 CALL 0100"],
])("the number %j is read as %j", (text, number) => expect(plainNumber(text)).toBe(number));
