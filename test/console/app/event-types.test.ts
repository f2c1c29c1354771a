import { expect, test } from "vitest";
import { choiceOf, END_TYPES, typesOf } from "../../../adapters/console/app/pages/webhooks/event-types.ts";
import { EVENT_TYPES } from "../../../src/domain/events.ts";

test("every event type is in one group", () => {
  const groupedTypes = (["call", "detail", "number", "batch"] as const).flatMap(typesOf);
  expect(groupedTypes.toSorted()).toEqual([...EVENT_TYPES].sort());
});

test.each([
  ["every event", null, "all"],
  ["the ends of calls, in any order", ["failed", "completed"], "ends"],
  ["one end of two", ["failed"], "chosen"],
  ["other types", [...END_TYPES, "dtmf"], "chosen"],
  ["no type", [], "chosen"],
] as const)("%s is its own choice", (_, events, choice) => {
  expect(choiceOf(events)).toBe(choice);
});
