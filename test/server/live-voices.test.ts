import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { DUO_MODEL, FLUTE, RECOGNISER } from "../support/archives.ts";
import { missingEngine } from "../support/neural.ts";
import { type ProgramResult, run, runtimes } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { toneModels } from "../support/tone-models.ts";

const MAIN = fileURLToPath(new URL("../voices/main.ts", import.meta.url));
const node = runtimes.find(({ name }) => name === "node26")!;

function runLive(folder: string, ...args: readonly string[]): Promise<ProgramResult> {
  return run(node, MAIN, { args, env: { RINGPORT_SPEECH_MODELS: folder }, timeoutMs: 150_000 });
}

/** The rows of the table without its head: voice, engine, words, errors, rate. */
function rowsOf({ stdout }: ProgramResult): string[][] {
  const rows = stdout.split("\n").slice(1, -1);
  return rows.map((row) => {
    const [voice = "", engine = "", , , ...rest] = row.trim().split(/ {2,}/);
    return [voice, engine, ...rest];
  });
}

describe.skipIf(missingEngine ?? node.missing)("npm run test:live", { timeout: 180_000 }, () => {
  test.each<[fault: string, removed: readonly string[], fix: string]>([
    [
      "no model",
      [DUO_MODEL, FLUTE, RECOGNISER],
      "has no voice and no recogniser; to install both: ringport models add pt",
    ],
    ["no voice", [DUO_MODEL, FLUTE], "has no voice; to install one: ringport models add pt-BR"],
    ["no recogniser", [RECOGNISER], "has no recogniser; to install one: ringport models add pt"],
  ])("without models it names the fix in one line, and exits with 2: %s", async (_, removed, fix) => {
    const folder = toneModels();
    for (const name of removed) rmSync(join(folder, name), { recursive: true });
    const { code, stdout, stderr } = await runLive(folder);
    expect([code, stdout, stderr.trimEnd().split("\n")]).toEqual([
      2,
      "",
      [expect.stringContaining(`test:live: ${folder} ${fix}`)],
    ]);
  });

  test("a wrong argument exits with 2, and is named", async () => {
    const folder = toneModels();
    const results = [
      await runLive(folder, "--voice", "pt-BR-50"),
      await runLive(folder, "--sentences", "missing.txt"),
      await runLive(folder, "--voices", "pt-BR-50,pt-BR-51"),
    ];
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(results.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining("--voice"),
      expect.stringContaining("missing.txt"),
      expect.stringContaining("pt-BR-51: there is no such voice"),
    ]);
  });

  test("understands every word of ten sentences in a voice of tones, and reports each sentence", async () => {
    const result = await runLive(toneModels(), "--voices", "en-US-50");
    expect([result.code, rowsOf(result)], result.stderr).toEqual([0, [["en-US-50", "neural", "106", "0", "0.0 %"]]]);
    const progress = result.stderr.trimEnd().split("\n");
    expect(progress).toEqual(
      Array.from({ length: 10 }, (_, number) => `${number + 1}/10  en-US-50  every word was understood`),
    );
  });

  test("measures every installed voice, and the embedded ones as their baseline", async () => {
    const file = join(temporaryFolder("sentences"), "sentences.txt");
    writeFileSync(file, "bom dia\n\nchegou ção\n");
    const result = await runLive(toneModels(), "--sentences", file);
    // A tone voice cannot speak accented letters, and its recogniser does not understand speech.
    const rows = rowsOf(result);
    expect([result.code, rows.slice(0, 3)], result.stderr).toEqual([
      0,
      ["en-US-50", "en-US-51", "pt-BR-50"].map((id) => [id, "neural", "4", "1", "25.0 %"]),
    ]);
    expect(rows.slice(3).map(([id, engine]) => [id, engine])).toEqual([
      ["en-US-7", "flite"],
      ["en-US-9", "espeak-ng"],
      ["pt-BR-9", "espeak-ng"],
    ]);
    for (const [, , words, errors] of rows.slice(3)) expect([words, Number(errors) > 0]).toEqual(["4", true]);
    expect(result.stderr).toContain('1 of 2 words wrong: "chegou ção" was heard as "chegou o"');
  });
});
