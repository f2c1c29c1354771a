import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { toneWav } from "../../support/server-sound.ts";
import { CliServer } from "./client-server.ts";

describe.skipIf(ON_NODE.missing)(`ringport audio on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();
  const folder = mkdtempSync(join(tmpdir(), "ringport-audio-"));
  const run = (...args: readonly string[]) => cli.run("keeper", args);

  test("stores a file once, which calls name, and deletes it", async () => {
    const file = join(folder, "greeting.wav");
    writeFileSync(file, toneWav({ ms: 1_000 }));
    const added = await run("audio", "add", file, "--expires-in", "2h");
    expect([added.code, added.stderr]).toEqual([0, ""]);
    const id = added.stdout.trim();
    expect(id).toMatch(/^audio_/);
    const again = JSON.parse((await run("audio", "add", file, "--json")).stdout);
    expect(again).toMatchObject({ id, name: "greeting.wav", duration_ms: 1_000, expires_at: null });
    const [row = ""] = (await run("audio", "list")).stdout.trim().split("\n");
    expect(row.split("\t").slice(0, 3)).toEqual([id, "greeting.wav", "1.0"]);
    const { instanceId } = await cli.caller("keeper");
    const placed = await run("call", "+12025550100", "--instance", instanceId, "--audio-id", id, "--json");
    expect([placed.code, JSON.parse(placed.stdout)]).toMatchObject([0, { outcome: { heard_ratio: 1 } }]);
    expect((await run("audio", "delete", id)).code).toBe(0);
    const deleted = await run("audio", "delete", id);
    expect([deleted.code, deleted.stderr]).toEqual([2, `ringport: there is no audio file "${id}"\n`]);
  });

  test("refuses a file that is no audio, and two messages", async () => {
    const file = join(folder, "notes.txt");
    writeFileSync(file, "no sound");
    expect(await run("audio", "add", file)).toMatchObject({ code: 2, stderr: expect.stringContaining("FILE is") });
    const both = await run("call", "+12025550147", "--audio-id", "audio_1", "--text", "Hello");
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("--audio-id")]);
  });
});
