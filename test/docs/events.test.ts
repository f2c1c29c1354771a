import { expect, test } from "vitest";
import { EVENT_TYPES } from "../../src/domain/events.ts";
import { textOf } from "./pages.ts";

test("docs/embedding.md explains each event, and nothing else", () => {
  const [, part = ""] = textOf("docs/embedding.md").split("## Events");
  const rows = [...part.split("\n## ")[0]!.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell]) => cell!);
  const explained = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(explained.sort()).toEqual([...EVENT_TYPES].sort());
});
