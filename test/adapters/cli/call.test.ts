import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ON_NODE } from "../../support/server.ts";
import { loudness, loudPart, toneShare, toneWav } from "../../support/server-sound.ts";
import { CliServer } from "./client-server.ts";
import { freshFolder } from "./run-cli.ts";

interface CallDocument {
  readonly id: string;
  readonly status: string;
  readonly outcome: { readonly reason: string; readonly heard_ratio: number };
  readonly events: readonly { readonly type: string }[];
}

describe.skipIf(ON_NODE.missing)(`ringport call on ${ON_NODE.title}`, { timeout: 60_000 }, () => {
  const cli = new CliServer();

  test("a text call is shown from the queue to its outcome", async () => {
    const { client } = await cli.caller("speaker");
    const { code, stdout, stderr } = await cli.run("speaker", ["call", "+12025550100", "--text", "Nine o'clock."]);
    expect([code, stderr]).toEqual([0, ""]);
    const [id = ""] = /call_\w{26}/.exec(stdout) ?? [];
    expect(stdout.split("\n")[0]).toBe(`${id} to +12025550100 from "Front desk"`);
    const eventNames = stdout.split("\n").map((line) => line.trim().split(/\s+/)[2]);
    for (const type of ["queued", "ringing", "answered", "message_ready", "completed"])
      expect(eventNames).toContain(type);
    expect(stdout).toContain("COMPLETED: message_played");
    expect(stdout).not.toContain("\x1b");
    const { outcome } = await client.readCall(id);
    const heard = await client.heard(id);
    const { from, to } = loudPart(heard);
    expect(((to - from) * 1000) / heard.sampleRate).toBeGreaterThan(0.6 * (outcome?.heard_ms ?? Number.NaN));
    expect(loudness(heard)).toBeGreaterThan(200);
  });

  test("a local file is heard, and one JSON document describes the call", async () => {
    const { client } = await cli.caller("player");
    const file = join(freshFolder(), "tone.wav");
    writeFileSync(file, toneWav({ hz: 700, ms: 1_200 }));
    const { code, stdout, stderr } = await cli.run("player", ["call", "+12025550100", "--audio", file, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    const call = JSON.parse(stdout) as CallDocument;
    expect(call).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
    expect(call.events.map(({ type }) => type)).toEqual((await client.timeline(call.id)).map(({ type }) => type));
    const heard = await client.heard(call.id);
    const { from, to } = loudPart(heard);
    expect(((to - from) * 1000) / heard.sampleRate).toBeCloseTo(1_200, -2);
    expect(toneShare({ ...heard, samples: heard.samples.subarray(from, to) }, 700)).toBeGreaterThan(0.95);
  });

  test("the exit code shows how the call ended", async () => {
    await cli.caller("counter");
    for (const [number, reason, expected] of [
      ["+12025550101", "busy", 3],
      ["+12025550103", "declined", 4],
      ["+12025550108", "number_invalid", 6],
      ["+12025550104", "callee_hung_up", 0],
    ] as const) {
      const longText = "This sentence goes on, and on, and on, until the callee has had enough of it and hangs up.";
      const { code, stdout } = await cli.run("counter", ["call", number, "--text", longText]);
      expect([number, code]).toEqual([number, expected]);
      expect(stdout).toMatch(new RegExp(`^(COMPLETED|FAILED): ${reason}`, "m"));
    }
  });

  test("Ctrl-C hangs up before the program exits", async () => {
    const { client, instanceId } = await cli.caller("regret");
    const command = await cli.start("regret", ["call", "+12025550102", "--text", "Never heard.", "--json"]);
    const queue = async () => (await client.instance(instanceId)).callQueue ?? [];
    await expect.poll(async () => (await queue())[0]?.status, { timeout: 10_000 }).toBe("RINGING");
    command.child.kill("SIGINT");
    const { code, stdout } = await command.finished;
    expect(code).toBe(130);
    const callDocument = JSON.parse(stdout) as CallDocument;
    expect(callDocument).toMatchObject({ status: "FAILED", outcome: { reason: "terminated" } });
    expect(await client.readCall(callDocument.id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "terminated" },
    });
    expect(await queue()).toEqual([]);
  });

  test("an instance's existing call is reported and left alone", async () => {
    const { client, instanceId } = await cli.caller("twice");
    const first = await cli.run("twice", ["call", "+12025550102", "--text", "First.", "--no-wait"]);
    const id = first.stdout.trim();
    expect([first.code, id]).toEqual([0, expect.stringMatching(/^call_\w{26}$/)]);
    const second = await cli.run("twice", ["call", "+12025550100", "--text", "Second."]);
    expect([second.code, second.stdout]).toEqual([7, ""]);
    expect(second.stderr).toContain(
      `no call was placed: ${instanceId} already has an active call, ${id} to +12025550102`,
    );
    const third = await cli.run("twice", ["call", "+12025550100", "--text", "Third.", "--json"]);
    expect(third.code).toBe(7);
    expect(JSON.parse(third.stderr)).toMatchObject({ code: "call_active_already", call: { id } });
    expect((await cli.run("twice", ["calls", "hangup", id])).code).toBe(0);
    expect(await client.readCall(id)).toMatchObject({ status: "FAILED", outcome: { reason: "terminated" } });
  });

  test("a call is placed from the only instance, or the named one", async () => {
    const noInstance = await cli.run("nobody", ["call", "+12025550100", "--text", "Hi."]);
    expect([noInstance.code, noInstance.stderr]).toEqual([
      2,
      "ringport: no instance to call from; create one: ringport instance create --link\n",
    ]);
    const { instanceId } = await cli.caller("two");
    const otherId = (await (await cli.server.as("two")).activeInstance("Back door")).id;
    const ambiguousRun = await cli.run("two", ["call", "+12025550100", "--text", "Hi."]);
    expect([ambiguousRun.code, ambiguousRun.stdout]).toEqual([2, ""]);
    for (const text of ["there are 2 instances", "--instance ID", instanceId, `${otherId} ("Back door", ACTIVE)`])
      expect(ambiguousRun.stderr).toContain(text);
    const args = ["call", "+12025550101", "--text", "Hi.", "--json", "--instance"];
    for (const instanceName of [otherId, "Back door"])
      expect(JSON.parse((await cli.run("two", [...args, instanceName])).stdout)).toMatchObject({
        instance_id: otherId,
      });
  });

  test("unsendable input is refused before anything is sent", async () => {
    const folder = freshFolder();
    const file = (name: string, content: Uint8Array | string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const text = ["--text", "Hi."];
    for (const [args, expectedText] of [
      [["12025550100", ...text], "E.164"],
      [["+1 202 555-0100", ...text], "such as +12025550100"],
      [["004930123456", ...text], "such as +4930123456"],
      [["+1 202 CALL 0100", ...text], "such as +12025550100"],
      [["+12025550100"], "no message: give --text"],
      [["+12025550100", "--audio", join(folder, "none.wav")], "there is no such file"],
      [["+12025550100", "--audio", folder], "it is a folder"],
      [["+12025550100", "--audio", file("empty.wav", "")], "it is an empty file"],
      [["+12025550100", "--audio", file("song.ogg", "OggS and more")], "it is Ogg (Vorbis or Opus); WAV and MP3"],
      [["+12025550100", "--audio", file("huge.wav", new Uint8Array(10 * 1024 * 1024 + 1))], "at most 10485760"],
      [["+12025550100", "--audio", file("a.wav", toneWav()), ...text], "leave out --text"],
    ] as const) {
      // A request would fail: this address has no server.
      const { code, stdout, stderr } = await cli.run("speaker", ["call", ...args, "--url", "http://127.0.0.1:1"]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(expectedText);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  });

  test("a refusal by the server names each fault", async () => {
    await cli.caller("mistaken");
    const args = ["call", "+12025550100", "--text", "Hi.", "--voice"];
    const mistakenVoice = await cli.run("mistaken", [...args, "pt-PT-99"]);
    expect([mistakenVoice.code, mistakenVoice.stderr]).toEqual([
      2,
      expect.stringContaining("ringport: --voice: voice pt-PT-99 is not available"),
    ]);
    const json = await cli.run("mistaken", [...args, "english", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      code: "voice_invalid",
      status: 400,
      errors: [{ pointer: "/tts/voiceId" }],
    });
  });
});
