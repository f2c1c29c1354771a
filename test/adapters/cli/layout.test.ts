import { describe, expect, test } from "vitest";
import { COMMANDS, loadAll } from "../../../adapters/cli/all-commands.ts";
import { commandHelp, overviewHelp } from "../../../adapters/cli/help.ts";
import { MODEL_COLUMNS } from "../../../adapters/cli/models/models.ts";
import { shownValue } from "../../../adapters/cli/terminal/shown-value.ts";
import { fitTable, table } from "../../../adapters/cli/terminal/table.ts";
import { wrapped } from "../../../adapters/cli/terminal/wrapped.ts";

const maxLength = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length));

describe("the help", () => {
  test.each(COMMANDS.map((command) => [command.path.join(" "), command] as const))(
    "fits 80 columns for %s",
    async (_, command) => expect(maxLength(commandHelp(await command.load()).split("\n"))).toBeLessThanOrEqual(80),
  );

  test("fits 80 columns for all commands", async () =>
    expect(maxLength(overviewHelp(await loadAll(), []).split("\n"))).toBeLessThanOrEqual(80));
});

describe("a list", () => {
  const columns = [
    { head: "ID" },
    { head: "REASON", cut: true },
    { head: "WHEN", dropOrder: 1 },
    { head: "AT", dropOrder: 2 },
  ];
  const rows = [["call_01", "instance_not_linked\x1b[31m", "2026-11-21", "inst_01"]];

  test("has every column on a wide terminal", () =>
    expect(fitTable(columns, rows, 200).at(-1)).toBe("call_01  instance_not_linked [31m  2026-11-21  inst_01"));

  test("keeps names, languages and licences of models on narrow terminals", () => {
    const cells = [
      "vits-piper-pt_BR-faber-medium",
      "pt-BR",
      "available",
      "pt-BR-20",
      "about 63 MB",
      "about 330 MB",
      "MIT",
    ];
    const [head, row] = fitTable(MODEL_COLUMNS, [cells], 80);
    expect(head).toMatch(/MODEL +LANGUAGES +STATE +VOICES +LICENCE/);
    expect(row).toMatch(/^vits-piper-pt_BR-faber-medium +pt-BR +available +pt-BR-20 +MIT$/);
  });

  test("gives a long model name its own line on narrow terminals", () => {
    const longName = `sherpa-onnx-${"n".repeat(60)}`;
    const cells = ["de,en", "available", "(transcribes)", "about 63 MB", "about 330 MB", "Apache-2.0"];
    const lines = fitTable(
      MODEL_COLUMNS,
      [
        ["short", ...cells],
        [longName, ...cells],
      ],
      80,
    );
    expect(maxLength(lines)).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(/^short +de,en +Apache-2\.0$/);
    expect(lines[2]).toBe(longName);
    expect(lines[3]).toBe(lines[1]?.replace("short", "     "));
  });

  test("leaves out columns on narrow terminals, and names them", () => {
    const lines = fitTable(columns, rows, 40);
    expect(lines[1]).toBe("call_01  instance_not_linked [31m");
    expect(lines.join(" ")).toContain("WHEN, AT");
    expect(maxLength(lines)).toBeLessThanOrEqual(40);
  });

  test("cuts long cells last, and never the id", () => {
    const lines = fitTable(columns, rows, 24);
    expect(lines[1]).toBe("call_01  instance_not_l…");
  });
});

describe("text", () => {
  test("wraps between words and does not split long words", () =>
    expect(wrapped("one two call_0123456789 three", 8)).toEqual(["one two", "call_0123456789", "three"]));

  test("wraps within the last column", () =>
    expect(table([["to", "one two three four five six seven"]], 36)).toEqual([
      "  to  one two three four five six",
      "      seven",
    ]));

  test("is name=value for an object, without null fields", () => {
    expect(shownValue({ duration_ms: 20, url: "http://x", jitter: null, inner: { a: [1] } })).toBe(
      'duration_ms=20 url=http://x inner={"a":[1]}',
    );
    expect(shownValue(null)).toBe("");
  });
});
