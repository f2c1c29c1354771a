import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { COMPILE_CACHE } from "../support/compile-cache.ts";
import { runtimes } from "../support/runtimes.ts";
import { differences, formatForPage, normalize } from "./output.ts";
import { type Block, blocksOf, fileOf } from "./pages.ts";

/** Blocks that are not run here, with the reasons. */
export const SKIPPED_BLOCKS: readonly (readonly [RegExp, string])[] = [
  [
    /^npm ci && npm (start|test)/m,
    ".ci/run runs `npm ci && npm test`, and test/server starts the server as `npm start` does",
  ],
  [
    /^RINGPORT_SPEECH_URL=.* npm start/ms,
    "it serves until it is stopped; test/docs/programs.test.ts gives the same settings to a program",
  ],
  [/^RINGPORT_TOKEN=.* node twilio-bridge/m, "test/server/twilio-bridge.test.ts connects a bot to a call with it"],
  [
    /^RINGPORT_TRANSCRIPTION_ENGINE=.* npm start/ms,
    "it serves until it is stopped; test/peers/transcripts.test.ts and test/server/neural.test.ts start servers with these settings",
  ],
  [
    /^RINGPORT_AGENT_ENGINE=realtime .* npm start/m,
    "it needs a provider's key, and serves until it is stopped; test/adapters/agent/realtime.test.ts has a provider",
  ],
  [
    /^npm run demo -- --agent --local/m,
    "it needs models; test/server/local-agent.test.ts runs it with models of tones",
  ],
  [
    /^npm run example|^npm install ringport && bun|^(RINGPORT_TOKEN|INSTANCE)=.* npm run (-s )?example/m,
    "test/examples starts each example, as a new user would",
  ],
  [
    /^sh examples\/sip-trunk\/pair\/start|^ID=\$\(npm run -s ringport -- instance create Trunk\)/m,
    "it installs packages and takes fixed ports; test/peers/sip-walkthrough.test.ts does the same with both",
  ],
  [
    /^RINGPORT_TLS_CERT=/m,
    "it needs a certificate, and serves until it is stopped; test/server/tls.test.ts starts a server with these settings",
  ],
  [/^RINGPORT_STREAM_PREVIEW=1 npm start/m, "it serves until it is stopped; the page is typed against such a server"],
  [/^npm install ringport @echogarden/m, "test/package installs the tarball, with and without voices"],
  [
    /^npm install ringport .* zapo-js@|^npx ringport doctor/m,
    "it needs packages that only some registries have; test/adapters/cli/whatsapp-findings.test.ts shows the same with stand-ins",
  ],
  [/^RINGPORT_SPEECH_MODELS=.* npm run test:live/m, "it needs models; test/voices has a test with models of tones"],
  [/^ringport models add/m, "it downloads a model; test/adapters/cli/models.test.ts does so from its own server"],
  [/^node server\.ts/m, "it needs the same packages; test/examples starts the example that has the same files"],
  [/^export RINGPORT_TOKEN=\$\(npx|^npx ringport call/m, "test/examples/whatsapp.test.ts types it beside the example"],
  [/^npx esbuild /m, "it needs a project of the reader; test/package/bundlers.test.ts does the same in one"],
  [/^docker compose |^sudo systemctl /m, "it needs a Docker engine or systemd as root"],
  [/^UPDATE_DOCS=1 /m, "it would write the pages that are being tested"],
];

/** The reason why a block is not run; undefined if it is. */
export function skipReason({ text }: Block): string | undefined {
  return SKIPPED_BLOCKS.find(([pattern]) => pattern.test(text))?.[1];
}

/** Environment in which a page is run. */
export interface Reader {
  readonly url: string;
  readonly token: string;
  /** The server's data, which the command line uses too. */
  readonly data: string;
  /** Scales the times of the page's own programs; 1 is real time. */
  readonly timeScale: string;
  /** The folder in which the reader types. */
  readonly folder: string;
}

/** Output of a block, including errors. */
export interface PrintedBlock {
  readonly block: Block;
  readonly output: string;
}

const CLI = fileOf("adapters/cli/main.ts");
const WEBSOCAT = fileOf("test/docs/websocat.ts");
const { command } = runtimes.find(({ name }) => name === "node26")!;
const MARK = "\u0001";

/** A shell that readers use: zsh is the standard on macOS. */
export type Shell = "bash" | "zsh";

/** Arguments with which a shell reads a script as if typed; zsh then supports no comments. */
const SHELL_FLAGS: Readonly<Record<Shell, readonly string[]>> = { bash: ["-c"], zsh: ["-f", "-i", "-c"] };

/**
 * Types all blocks of a page into one shell, in order.
 * @throws {Error} a command has failed; the message shows the place and the output
 */
export async function typePage(page: string, reader: Reader, shell: Shell = "bash"): Promise<PrintedBlock[]> {
  const { url, token, folder, data, timeScale } = reader;
  const blocks = blocksOf(page).filter((block) => block.language === "sh" && !skipReason(block));
  const ringport = quoteWords([...command, CLI]);
  const script = [
    "set -eu",
    "exec 2>&1",
    `ringport() { ${ringport} "$@"; }`,
    `websocat() { ${quoteWords([...command, WEBSOCAT])} "$@"; }`,
    // `npm run -s ringport -- …` and `npm run demo`, but in the reader's folder instead of the project's
    'npm() { local word; local -a words; words=(); for word in "$@"; do case $word in run|-s|ringport|--) ;; *) words+=("$word");; esac; done',
    `${ringport} "\${words[@]}"; }`,
    ...blocks.flatMap(({ text }, i) => [`printf '${MARK}${i}${MARK}'`, text]),
  ].join("\n");
  const typedScript = script
    .replace(/^export RINGPORT_URL=.*$/gm, `export RINGPORT_URL=${url}`)
    .replace(/^export RINGPORT_TOKEN=.*$/gm, `export RINGPORT_TOKEN=${token}`);
  const { code, output } = await type(shell, typedScript, folder, {
    RINGPORT_DATA: data,
    RINGPORT_SIMULATOR_TIME_SCALE: timeScale,
  });
  const parts = output.replaceAll(folder, "/home/you/ringport").split(MARK).slice(1);
  const printedBlocks = blocks.flatMap((block, i) =>
    parts[2 * i + 1] === undefined ? [] : [{ block, output: parts[2 * i + 1]! }],
  );
  if (code === 0) return printedBlocks;
  const last = printedBlocks.at(-1);
  throw new Error(`${page}:${last?.block.line}: a command ended with ${code}:\n${last?.output}\n${last?.block.text}`);
}

function quoteWords(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}

function type(
  shell: Shell,
  script: string,
  cwd: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const { PATH, HOME, LANG = "C.UTF-8" } = process.env;
  const env = { ...settings, NODE_COMPILE_CACHE: COMPILE_CACHE, PATH, HOME, LANG, LC_ALL: "C.UTF-8", NO_COLOR: "1" };
  const child = spawn(shell, [...SHELL_FLAGS[shell], script], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 110_000,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

/**
 * Differences between the JSON and text blocks that follow the commands and the printed output. With `UPDATE_DOCS=1`
 * the page is corrected instead.
 */
export function wrongOutputs(page: string, printedBlocks: readonly PrintedBlock[]): string[] {
  const documentedBlocks = blocksOf(page).filter(
    ({ language, note }) => ["json", "text"].includes(language) && note === "",
  );
  const wrongBlocks = documentedBlocks.flatMap((block) => {
    const actual = printedBlocks.find(({ block: { line } }) => line === block.after?.line)?.output;
    if (block.after?.language !== "sh" || actual === undefined) return [];
    const faults = block.language === "json" ? wrongJson(block.text, actual) : wrongText(block.text, actual);
    return faults.length > 0 ? [{ block, actual, faults }] : [];
  });
  if (process.env.UPDATE_DOCS) correct(page, wrongBlocks);
  return process.env.UPDATE_DOCS
    ? []
    : wrongBlocks.map(({ block, faults }) => `${page}:${block.line}: ${faults.join("; ")}`);
}

function wrongJson(documented: string, actual: string): string[] {
  try {
    return differences(JSON.parse(documented), JSON.parse(actual));
  } catch {
    return [`no JSON was printed: ${actual}`];
  }
}

function wrongText(documented: string, actual: string): string[] {
  const [a, b] = [normalize(documented), normalize(actual)];
  if (a === b) return [];
  // A line of … matches any number of lines.
  const parts = a.split(/^…$/m).map((part) => part.trim());
  let position = 0;
  for (const part of parts) {
    const foundAt = b.indexOf(part, position);
    if (parts.length === 1 || foundAt < 0) return [`${JSON.stringify(a)} is documented, actual: ${JSON.stringify(b)}`];
    position = foundAt + part.length;
  }
  return [];
}

function correct(page: string, wrongBlocks: readonly { block: Block; actual: string }[]): void {
  const lines = readFileSync(fileOf(page), "utf8").split("\n");
  for (const { block, actual } of [...wrongBlocks].reverse()) {
    const length = block.text === "" ? 0 : block.text.split("\n").length;
    lines.splice(block.line - 1, length, formatForPage(actual, block.language === "json"));
  }
  writeFileSync(fileOf(page), lines.join("\n"));
}
