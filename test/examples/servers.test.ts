import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { callees, startFarEnd } from "../support/sip/far-end.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ExampleOptions, folder, runtimeOf, startExample } from "./example.ts";
import { expectTone, placeToneCall, TONE_WAV } from "./tone-call.ts";

/** Registers a test for an example; if the runtime is missing, the test is skipped and its title gives the reason. */
function onItsRuntime(script: string, options: ExampleOptions, title: string, body: () => Promise<void>): void {
  const runtime = runtimeOf(script, options.runtime);
  test.skipIf(runtime.missing)(`${script} on ${runtime.title} ${title}`, body);
}

describe("a server", () => {
  const examples: [script: string, options: ExampleOptions][] = [
    ["bun-server.ts", {}],
    ["deno-server.ts", {}],
    ["node-server.ts", {}],
    ["node-server.ts", { runtime: "node22" }],
  ];
  for (const [script, options] of examples)
    onItsRuntime(script, options, "places an audible call, and ends gracefully", async () => {
      const { client, interrupt } = await startExample(script, options);
      expectTone(await client.heard(await placeToneCall(client)));
      expect(await interrupt()).toBe(0);
    });
});

describe("an app that Ringport is mounted in", () => {
  const examples: [script: string, options: ExampleOptions][] = [
    ["express.ts", {}],
    ["express.ts", { runtime: "node22" }],
    ["fastify.ts", {}],
    ["hono.ts", {}],
  ];
  for (const [script, appOptions] of examples) {
    const options = { ...appOptions, mountPath: "/voice" };
    onItsRuntime(script, options, "keeps its own routes, and places an audible call", async () => {
      const { base, client } = await startExample(script, options);
      expect(await (await fetch(new URL("/", base))).text()).toBe("My own app, with calls below /voice/v1");
      expectTone(await client.heard(await placeToneCall(client)));
    });
  }
});

describe("a SIP trunk", () => {
  onItsRuntime("sip-trunk/server.ts", {}, "places a call over a trunk, and the callee hears it", async () => {
    const farEnd = await startFarEnd({ callees: { "+12025550100": callees.answers } });
    onTestFinished(() => farEnd.close());
    const trunks = join(temporaryFolder("trunks"), "trunks.json");
    writeFileSync(trunks, JSON.stringify([{ name: "acme", server: farEnd.uri }]));
    const { client, interrupt } = await startExample("sip-trunk/server.ts", { env: { TRUNKS: trunks } });
    const { id } = await client.createInstance("Trunk");
    await client.waitForInstance(id, "ACTIVE");
    const audio = { audioBase64: TONE_WAV.toString("base64") };
    const call = await client.call(id, { type: "FIXED_AUDIO", audio });
    expect((await client.waitForCall(call.id)).outcome?.reason).toBe("message_played");
    expectTone({ sampleRate: 8_000, samples: farEnd.calls[0]!.heard });
    expect(await interrupt()).toBe(0);
  });
});

describe("a custom adapter", () => {
  const storage = "your-own-storage/server.ts";
  onItsRuntime(storage, {}, "places an audible call, and still has it after being killed", async () => {
    const { client, kill } = await startExample(storage, { printsToken: true });
    const id = await placeToneCall(client);
    expectTone(await client.heard(id));
    await expect(startExample(storage, { printsToken: true, keepsData: true })).rejects.toThrow(
      "another server is already using the database",
    );
    await kill();
    const restartedExample = await startExample(storage, { printsToken: true, keepsData: true });
    expect(await restartedExample.client.waitForCall(id)).toMatchObject({ status: "COMPLETED" });
  });

  onItsRuntime("your-own-telephony/server.ts", {}, "plays a call through the loudspeaker", async () => {
    const outputFile = join(folder(), "played.s16");
    rmSync(outputFile, { force: true });
    const { client } = await startExample("your-own-telephony/server.ts", { env: { PLAYER: `cat > ${outputFile}` } });
    await placeToneCall(client);
    const bytes = readFileSync(outputFile);
    expectTone({ sampleRate: 16_000, samples: new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1) });
  });
});
