import { expect, test } from "vitest";
import en from "../../../adapters/console/app/dictionary/en/instances.ts";
import pt from "../../../adapters/console/app/dictionary/pt/instances.ts";
import { LINE_CONDITIONS } from "../../../src/domain/instances/line-flow.ts";

test.each([
  ["English", en],
  ["Portuguese", pt],
])("every line condition has its own %s text", (_, { condition }) => {
  expect(Object.keys(condition).sort()).toEqual([...LINE_CONDITIONS].sort());
  const texts = Object.values(condition).flatMap(({ title, text }) => [title, text]);
  expect(new Set(texts).size).toBe(LINE_CONDITIONS.length * 2);
});
