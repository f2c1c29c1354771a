import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { msToSamples, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import { freePort } from "../../support/free-port.ts";
import { freshFolder, node, run } from "./run-cli.ts";

/** One second of a tone as a WAV file. */
function tone(): Uint8Array {
  const sampleRate = 16_000;
  const samples = Int16Array.from({ length: msToSamples(1_000, sampleRate) }, (_, i) => 8_000 * Math.sin(i / 5));
  return Buffer.concat([wavHeader({ sampleRate, samples: samples.length }), pcmToBytes(samples)]);
}

describe.skipIf(node.missing)(`ringport demo on ${node.title}`, { timeout: 40_000 }, () => {
  const file = join(freshFolder(), "tone.wav");
  writeFileSync(file, tone());

  test("with a file prints the QR code, timeline, outcome and recording, whatever the SIP settings", async () => {
    const { code, stdout, stderr } = await run(["demo", "--audio", file], {
      RINGPORT_SIMULATOR_TIME_SCALE: "0.2",
      RINGPORT_SIP_TRUNKS: '[{"name":"acme","registrar":"sip:127.0.0.1"}]',
      RINGPORT_TELEPHONY: "sip",
    });
    expect(stderr).toBe("");
    for (const expectedText of [
      "is CREATED",
      "▄▄▄▄▄",
      "/simulator/link/",
      "is ACTIVE",
      "queued",
      "answered",
      "COMPLETED",
    ])
      expect(stdout).toContain(expectedText);
    expect(stdout).toContain("heard_ms=1000 heard_ratio=1");
    expect(stdout).not.toContain("\x1b");
    const path = /What the callee heard: (.+)/.exec(stdout)?.[1] ?? "";
    expect(readFileSync(path).subarray(0, 4).toString()).toBe("RIFF");
    expect(code).toBe(0);
  });

  test("with --agent prints the agent's sentences, the callee's keys and the result", { timeout: 70_000 }, async () => {
    const { code, stdout, stderr } = await run(["demo", "--agent"]);
    expect(stderr).toBe("");
    const conversation = stdout.slice(stdout.indexOf("COMPLETED: agent_finished"));
    expect(
      conversation.split("\n").flatMap((line) => /^ {2}(agent|callee) {2,}(.*)/.exec(line)?.slice(1).join(": ") ?? []),
    ).toEqual([
      "agent: Hello, this is an automated call from the Riverside clinic.",
      "agent: Your appointment is tomorrow at ten. Press 1 to keep it, or 2 to cancel it.",
      "callee: presses 1",
      "agent: Good, we expect you at ten.",
      "agent: How many people will come?",
      "callee: presses 2",
      "agent: For a reminder tomorrow morning press 1, otherwise 2.",
      "callee: presses 1",
      "agent: You will get a reminder.",
      "agent: How do you rate this call, from 1 to 5?",
      "callee: presses 5",
      "agent: Thank you. Goodbye.",
    ]);
    expect(conversation).toContain('result: {"appointment":"1","people":"2","reminder":"1","rating":"5"}');
    expect(conversation).toMatch(/from each key to the agent's first word: \d+, \d+, \d+, \d+ ms/);
    expect(code).toBe(0);
  });

  test("--agent with another message is a usage error", async () => {
    const { code, stderr } = await run(["demo", "--agent", "--text", "Hello"]);
    expect(stderr).toContain("--agent speaks its own sentences: leave out --text");
    expect(code).toBe(2);
  });

  test("--agent --local lists every missing part with its fix", async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const { code, stdout, stderr } = await run(["demo", "--agent", "--local", "--voice", "pt-BR-20"], {
      RINGPORT_AGENT_URL: url,
    });
    const lines = stderr.trim().split("\n");
    expect(lines[0]).toBe("ringport: these parts of the agent are missing:");
    expect(lines.slice(1).map((line) => line.replace(/ +/g, " "))).toEqual([
      expect.stringMatching(/^✗ engine is not installed → npm install --prefix \.\/data sherpa-onnx-node/),
      "✗ voice pt-BR-20 is not installed → ringport models add pt-BR",
      expect.stringMatching(/^✗ recogniser there is none in .*models → ringport models add pt$/),
      `✗ language model ${url} does not respond → start the server there, or correct RINGPORT_AGENT_URL`,
    ]);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("--local without --agent is a usage error", async () => {
    const { code, stderr } = await run(["demo", "--local"]);
    expect(stderr).toContain("ringport demo --agent --local");
    expect(code).toBe(2);
  });

  test("a call that fails is printed, and the exit code is 1", async () => {
    const { code, stdout } = await run(["demo", "--audio", file, "--to", "+12025550101"]);
    expect(stdout).toContain("FAILED: busy");
    expect(code).toBe(1);
  });

  test("a recording that cannot be written is kept in the data folder", async () => {
    const [data, cwd] = [freshFolder(), freshFolder()];
    mkdirSync(join(cwd, "ringport-demo.wav"));
    const env = { RINGPORT_SIMULATOR_TIME_SCALE: "0.2" };
    const { code, stdout } = await run(["demo", "--audio", file, "--data", data], env, cwd);
    expect(code).toBe(0);
    const path = join(data, "ringport-demo.wav");
    expect(stdout).toContain(`What the callee heard: ${path}`);
    expect(readFileSync(path).subarray(0, 4).toString()).toBe("RIFF");
  });
});
