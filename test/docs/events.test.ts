import { expect, test } from "vitest";
import { EVENT_TYPES, type EventType, isFinalEvent } from "../../src/domain/events.ts";
import { outcomeShape } from "../../src/http/views/call-details.ts";
import { EVENT_DATA } from "../../src/http/views/event-shapes.ts";
import { textOf } from "./pages.ts";

const [, part = ""] = textOf("docs/embedding.md").split("## Events");
/** The events and the fields of their data, for each row of the table. */
const ROWS = [...part.split("\n## ")[0]!.matchAll(/^\| (`[^|]+`) \|.*\| ?([^|]*)\|$/gm)].flatMap(([, events, data]) =>
  namesIn(events!).map((type) => ({ type: type as EventType, fields: namesIn(data!) })),
);

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

test("docs/embedding.md explains exactly the events", () => {
  expect(ROWS.map(({ type }) => type).sort()).toEqual([...EVENT_TYPES].sort());
  expect(Object.keys(EVENT_DATA).sort()).toEqual([...EVENT_TYPES].sort());
});

test.each(ROWS)("docs/embedding.md names the data of $type", ({ type, fields }) => {
  const outcome = isFinalEvent(type) ? Object.keys(outcomeShape.entries) : []; // explained on a separate page
  const fieldNames = Object.keys(EVENT_DATA[type].entries).filter((name) => !outcome.includes(name));
  expect(fields).toEqual(expect.arrayContaining(fieldNames));
});
