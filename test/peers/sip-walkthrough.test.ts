import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run as runCli } from "../adapters/cli/run-cli.ts";
import { fileOf } from "../docs/pages.ts";
import { programs } from "../docs/programs.ts";
import { TONE_WAV } from "../examples/tone-call.ts";
import { run as runProgram } from "../support/runtimes.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { loudPart, readWav, toneShare } from "../support/server-sound.ts";
import { folder, run, withTools } from "./tools.ts";

const TRUNKS = fileOf("examples/sip-trunk/pair/trunks.json");
const script = (name: string): string => fileOf(`examples/sip-trunk/pair/${name}.sh`);

/** Retried on a stalled machine. */
const REAL_TIME = { retry: 2 };

/** The walkthrough of docs/sip.md with a server and a softphone on one computer. */
withTools("the pair from docs/sip.md", ["baresip", "kamailio", "sox"], () => {
  const files = folder();
  const recordings = (): string[] =>
    readdirSync(join(files, "rec"))
      .filter((name) => name.endsWith("-dec.wav"))
      .sort();
  beforeAll(() => void run("bash", script("start"), files));
  afterAll(() => void run("bash", script("stop"), files));

  test("sip check passes every step", async () => {
    const { code, stdout } = await runCli(["sip", "check", "--json", "--call", "+12025550100"], {
      RINGPORT_SIP_TRUNKS: TRUNKS,
    });
    const { ok, trunks } = JSON.parse(stdout);
    expect({ code, ok }, stdout).toEqual({ code: 0, ok: true });
    expect(trunks[0].steps.at(-1)).toMatchObject({ name: "call", state: "works" });
    await until(recordings, (names) => names.length === 1, 5_000, "the recording of the check");
  });

  /** The tone that the phone heard in the call after these recordings, and its length, ms. */
  async function heardSince(earlierNames: readonly string[], hz: number): Promise<{ ms: number; share: number }> {
    const isComplete = (name: string): boolean => {
      const file = readFileSync(join(files, "rec", name));
      return file.length > 44 && file.readUInt32LE(4) === file.length - 8;
    };
    const newRecordings = () => recordings().filter((name) => !earlierNames.includes(name) && isComplete(name));
    const [name = ""] = await until(newRecordings, (names) => names.length === 1, 5_000, "the recording");
    const sound = readWav(readFileSync(join(files, "rec", name)));
    const { from, to } = loudPart(sound);
    const share = toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, hz);
    return { ms: (1000 * (to - from)) / sound.sampleRate, share };
  }

  describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
    const server = useServer(target, { env: { RINGPORT_SIP_TRUNKS: TRUNKS, RINGPORT_STREAM_PREVIEW: "1" } });

    test("an instance becomes ACTIVE without linking, and the phone records the message", async () => {
      const client = await server.as("admin");
      const { id } = await client.createInstance("Trunk");
      await client.waitForInstance(id, "ACTIVE");
      const earlierRecordings = recordings();
      const audio = { audioBase64: TONE_WAV.toString("base64") };
      const call = await client.call(id, { type: "FIXED_AUDIO", audio });
      expect((await client.waitForCall(call.id)).outcome?.reason).toBe("message_played");
      const { ms, share } = await heardSince(earlierRecordings, 1000);
      expect(ms).toBeGreaterThan(1_160);
      expect(share).toBeGreaterThan(0.95);
    });

    // test/peers/sip/client-stream.test.ts streams to servers on all runtimes.
    if (target === ON_NODE)
      test("the first program of docs/streams.md exchanges audio with the phone", REAL_TIME, async () => {
        const client = await server.as("admin");
        const { id } = await client.createInstance("Streams");
        await client.waitForInstance(id, "ACTIVE");
        const earlierRecordings = recordings();
        const text = programs()
          .find(({ page, text }) => page === "docs/streams.md" && text.includes("new WebSocket("))!
          .text.replace("http://127.0.0.1:8080", server.base)
          .replace("rp_live_…", client.token!)
          .replace("inst_…", id)
          .replace("+12025550106", "+12025550100");
        writeFileSync(join(files, "stream.mts"), text);
        const { stdout, stderr } = await runProgram(target.runtime, join(files, "stream.mts"), { cwd: files });
        expect(stdout, stderr).toMatch(/^mark tone\n(.*\n)*completed stream_closed\nclosed with 1000$/m);
        const { ms, share } = await heardSince(earlierRecordings, 440);
        expect(ms).toBeGreaterThan(1_990);
        expect(share).toBeGreaterThan(0.9);
        const pcm = readFileSync(join(files, "callee.pcm"));
        const samples = Int16Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i));
        const { from, to } = loudPart({ sampleRate: 16_000, samples });
        expect(to - from).toBeGreaterThan(16_000);
        expect(toneShare({ sampleRate: 16_000, samples: samples.subarray(from, to) }, 1000)).toBeGreaterThan(0.9);
      });
  });
});
