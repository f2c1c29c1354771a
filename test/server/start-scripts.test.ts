import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type RuntimeName, runtimes, start } from "../support/runtimes.ts";
import { Client, until } from "../support/server-client.ts";
import { loudness } from "../support/server-sound.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SCRIPTS: readonly (readonly [script: string, on: RuntimeName])[] = [
  ["start", "node26"],
  ["start:bun", "bun"],
  ["start:deno", "deno"],
];

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  scripts: Record<string, string>;
};

for (const [script, runtimeName] of SCRIPTS) {
  const runtime = runtimes.find(({ name }) => name === runtimeName)!;

  describe.skipIf(runtime.missing)(`npm run ${script} (${runtime.title})`, () => {
    test("it serves from source, places an audible call, and stops on SIGTERM", async () => {
      const npm = { ...runtime, command: ["npm", "run", "--silent"] };
      const data = temporaryFolder("start");
      const tokenFile = join(data, "token");
      const settings = { RINGPORT_DATA: data, RINGPORT_TOKEN_FILE: tokenFile, RINGPORT_SIMULATOR_TIME_SCALE: "0.1" };
      const env = { ...settings, LOG_LEVEL: "info" };
      const server = await start(npm, script, { env });
      try {
        await until(server.output, (text) => text.includes("curl -X POST"), 10_000, "the first token");
        const runningServer = { base: server.url, document: undefined, output: server.output() };
        const client = new Client(runningServer, readFileSync(tokenFile, "utf8").trim());
        const call = await client.call((await client.activeInstance()).id);
        const endedCall = await client.waitForCall(call.id);
        expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
        expect(loudness(await client.heard(call.id))).toBeGreaterThan(100);
      } finally {
        await server.stop();
      }
      await until(server.output, (text) => text.includes('"msg":"stopped"'), 10_000, "the server behind npm to stop");
    });
  });
}

const deno = runtimes.find(({ name }) => name === "deno")!;
test.skipIf(deno.missing)(
  "Deno runs with the permissions of npm run start:deno, except that for speech processes",
  () => {
    expect(scripts["start:deno"]).toBe(
      `deno ${deno.command.slice(1).join(" ")} --allow-run=deno adapters/cli/main.ts serve`,
    );
  },
);
