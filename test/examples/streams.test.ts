import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type RuntimeName, start } from "../support/runtimes.ts";
import { type CallView, type Client, expected, until } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { loudPart, type Sound, toneShare } from "../support/server-sound.ts";
import { clientOf, folder, runtimeNamed, tokenOfCommandLine } from "./example.ts";
import { startProgram } from "./program.ts";

const LINK_URL = /http:\S+\/simulator\/\S*\w/;
const MP3 = fileURLToPath(new URL("../fixtures/tone-8k-mono.mp3", import.meta.url));
const node = runtimeNamed("node26");

/** A server with live streams, as the examples require. */
async function serverWithStreams(): Promise<{ base: string; client: Client }> {
  rmSync(join(folder(), "data"), { recursive: true, force: true });
  const env = { RINGPORT_STREAM_PREVIEW: "1" };
  const server = await start(node, "node_modules/ringport/dist/cli.js", { cwd: folder(), args: ["serve"], env });
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  return { base: server.url, client: clientOf(server, server.url, await tokenOfCommandLine(folder())) };
}

/** Runs an example to its end, pressing the button when asked; returns its output and the audio heard. */
async function runToEnd(script: string, args: readonly string[], name: RuntimeName = "node26") {
  const { base, client } = await serverWithStreams();
  const env = { RINGPORT_URL: base, RINGPORT_TOKEN: client.token! };
  const program = startProgram(runtimeNamed(name), [script, ...args], folder(), env);
  await Promise.race([
    program.finalOutput,
    until(program.output, (text) => LINK_URL.test(text), 15_000, "the link page"),
  ]);
  expected(200, await send("POST", LINK_URL.exec(program.output())![0]));
  const output = await program.finalOutput;
  const [call] = expected(200, await client.get("/v1/calls")).json<CallView[]>();
  return { output, sound: await client.heard(call!.id) };
}

/** Part of a sound between two times, s. */
function part({ samples, sampleRate }: Sound, from: number, to: number): Sound {
  return { sampleRate, samples: samples.subarray(from * sampleRate, to * sampleRate) };
}

/** Time at which a tone is first heard for this many seconds almost exclusively. */
function toneAt(sound: Sound, hz: number, seconds: number): number {
  const lastStart = sound.samples.length / sound.sampleRate - seconds;
  for (let from = 0; from < lastStart; from += 0.02) {
    const stretch = part(sound, from, from + seconds);
    if (toneShare(stretch, hz) > 0.95 && loudPart(stretch).from >= 0) return from;
  }
  return -1;
}

describe("stream-echo.ts repeats the callee's greeting and beep", () => {
  for (const name of ["node26", "node22", "bun", "deno"] as const)
    test.skipIf(runtimeNamed(name).missing)(`on ${runtimeNamed(name).title}`, async () => {
      const { output, sound } = await runToEnd("stream-echo.ts", ["+12025550105"], name);
      expect(output).toMatch(/reason: ["']stream_closed["']/);
      const beep = toneAt(sound, 1_000, 0.36);
      expect(beep).toBeGreaterThan(3.8);
      expect(loudPart(part(sound, 0, beep - 0.1)).from).toBeGreaterThan(0); // the greeting
      expect(toneAt(part(sound, beep + 0.2, 12), 1_000, 0.36)).toBe(-1); // once
    });
});

describe("stream-mp3-radio.ts", () => {
  let file: Buffer;
  beforeAll(() => {
    file = readFileSync(MP3);
  });

  test("plays an MP3 that arrives in odd pieces from a web server", async () => {
    const station = createServer((_, response) => {
      response.writeHead(200, { "content-type": "audio/mpeg" });
      const sendFrom = (offset: number): void => {
        if (offset >= file.length) response.end();
        else response.write(file.subarray(offset, offset + 333), () => setTimeout(sendFrom, 5, offset + 333));
      };
      sendFrom(0);
    });
    await new Promise<void>((resolve) => station.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void station.close().closeAllConnections());
    const { port } = station.address() as AddressInfo;
    const { output, sound } = await runToEnd("stream-mp3-radio.ts", [`http://127.0.0.1:${port}/tone.mp3`]);
    expect(output).toMatch(/reason: ["']stream_closed["']/);
    const { from, to } = loudPart(sound);
    expect(toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, 1_000)).toBeGreaterThan(0.95);
  });

  test("plays hello.mp3 by default", async () => {
    const { sound } = await runToEnd("stream-mp3-radio.ts", []);
    const { from, to } = loudPart(sound);
    expect((to - from) / sound.sampleRate).toBeGreaterThan(1);
  });
});

test("stream-bot.ts answers keys, and hangs up after the last answer", async () => {
  const { output, sound } = await runToEnd("stream-bot.ts", []);
  expect(output.match(/^heard .*/gm)).toEqual([
    "heard 1: a low tone",
    "heard 2: a middle tone",
    "heard 3: a high tone",
    "heard 4: nothing to do",
    "heard #: a sentence, and goodbye",
  ]);
  // No speech engine is installed here: a tone replaces the goodbye.
  const tones = [440, 660, 880, 330].map((hz) => toneAt(sound, hz, 0.36));
  expect(tones[0]).toBeGreaterThan(0);
  expect(tones[1]).toBeGreaterThan(tones[0]! + 0.36);
  expect(tones[2]).toBeGreaterThan(tones[1]! + 0.36);
  expect(tones[3]).toBeGreaterThan(tones[2]! + 0.36);
});
