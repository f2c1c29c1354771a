import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { blocksOf, fileOf, PAGES } from "../docs/pages.ts";
import { SKIPPED_BLOCKS, skipReason, typePage, wrongOutputs } from "../docs/shell-page.ts";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { channels } from "../support/server-recordings.ts";
import { loudPart, readWav, toneShare } from "../support/server-sound.ts";
import { recognise } from "./recogniser.ts";
import { folder, type Tool, withTools } from "./tools.ts";

/** Expected contents of the reader's folder after everything on the page has been typed. */
const FOLDER_CHECKS: Readonly<Record<string, (folder: string) => void>> = {
  "README.md": expectParcelHeard,
  "docs/quick-start.md": expectParcelHeard,
  "docs/http.md": expectFileHeard,
  "docs/recording.md": expectMessageRecorded,
  "docs/streams.md": expectCalleeReceived,
};
/** Pages that run in real time, as for a new user. */
const REAL_TIME_PAGES: ReadonlySet<string> = new Set([
  "README.md",
  "docs/quick-start.md",
  "docs/http.md",
  "docs/streams.md",
]);
/** Pages about streams, which are a preview. */
const WITH_STREAMS: ReadonlySet<string> = new Set(["docs/streams.md"]);
/** Pages that are typed into zsh instead of bash, so that both are covered; no block of any page has a comment. */
const ZSH_PAGES: ReadonlySet<string> = new Set(["docs/quick-start.md", "docs/http.md", "docs/recording.md"]);
const TOOLS: readonly Tool[] = ["curl", "pocketsphinx_batch", "zsh"];

const pages = PAGES.filter((page) => blocksOf(page).some((block) => block.language === "sh" && !skipReason(block)));

test("every reason not to run a block applies to at least one block", () => {
  const blocks = PAGES.flatMap(blocksOf).filter(({ language }) => language === "sh");
  for (const [pattern] of SKIPPED_BLOCKS) expect(blocks.some(({ text }) => pattern.test(text))).toBe(true);
});

describeEach([ON_NODE], (target) => {
  withTools("typed into a real shell,", TOOLS, () => {
    const files = folder();
    describe.each(pages)("%s", (page) => {
      const timeScale = REAL_TIME_PAGES.has(page) ? "1" : "0.1";
      const preview = WITH_STREAMS.has(page) ? { RINGPORT_STREAM_PREVIEW: "1" } : {};
      const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: timeScale, ...preview } });

      test("works from top to bottom, and prints the output shown", async () => {
        const pageFiles = join(files, page.replaceAll("/", "-"));
        rmSync(pageFiles, { recursive: true, force: true }); // from an earlier attempt
        mkdirSync(pageFiles);
        // A tone under the name of the file that the pages play.
        mkdirSync(join(pageFiles, "examples"));
        copyFileSync(fileOf("test/fixtures/tone-16k-mono-vbr.mp3"), join(pageFiles, "examples/hello.mp3"));
        const token = await server.token("admin");
        const reader = { url: server.base, token, folder: pageFiles, data: server.data, timeScale };
        const outputs = await typePage(page, reader, ZSH_PAGES.has(page) ? "zsh" : "bash");
        expect(wrongOutputs(page, outputs)).toEqual([]);
        expect(readdirSync(pageFiles).filter((name) => name !== "examples" && !isIgnored(name))).toEqual([]);
        FOLDER_CHECKS[page]?.(pageFiles);
      });
    });
  });
});

/** True if git, and thus `npm run check`, ignores a file in the root of a clone. */
function isIgnored(name: string): boolean {
  return spawnSync("git", ["check-ignore", "--quiet", "--no-index", name], { cwd: fileOf(".") }).status === 0;
}

/** Asserts that the callee heard the spoken message, word for word. */
function expectParcelHeard(folder: string): void {
  const words = recognise(join(folder, "heard.wav"), [
    ["your", "our"],
    ["parcel", "partial", "castle"],
    ["arrives", "arrived", "rises"],
    ["tomorrow", "today", "monday"],
    ["at"],
    ["nine", "five", "noon"],
  ]);
  expect(words).toBe("your parcel arrives tomorrow at nine");
}

/** Asserts that the callee heard the whole tone of the file, and that the voice's sample has sound. */
function expectFileHeard(folder: string): void {
  const sound = readWav(readFileSync(join(folder, "heard.wav")));
  const { from, to } = loudPart(sound, 500);
  expect(Math.abs(((to - from) * 1000) / sound.sampleRate - 3000)).toBeLessThanOrEqual(60);
  expect(toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, 1000)).toBeGreaterThanOrEqual(0.95);
  const sample = readWav(readFileSync(join(folder, "sample.wav")));
  expect(sample.sampleRate).toBe(16_000);
  expect(loudPart(sample).to - loudPart(sample).from).toBeGreaterThan(8_000);
  expectMessageRecorded(folder);
}

/** Asserts that the recording has the message on its left channel: longer than a word, and louder than line noise. */
function expectMessageRecorded(folder: string): void {
  const { left } = channels(readFileSync(join(folder, "recording.wav")));
  const { from, to } = loudPart(left, 500);
  expect((to - from) / left.sampleRate).toBeGreaterThan(0.8);
}

/** Asserts that the callee's sentence was echoed, louder than line noise, between the events. */
function expectCalleeReceived(folder: string): void {
  const received = readFileSync(join(folder, "received.pcm"));
  expect(received.toString("latin1")).toContain('"event":"answered"');
  expect(received.length).toBeGreaterThan(2 * 16_000 * 3);
}
