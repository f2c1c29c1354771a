import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run as runCli } from "../adapters/cli/run-cli.ts";
import { fileOf } from "../docs/pages.ts";
import { TONE_WAV } from "../examples/tone-call.ts";
import { ON_NODE, ON_OTHER_RUNTIMES, onEach, useServer } from "../support/server.ts";
import { until } from "../support/server-client.ts";
import { loudPart, readWav, toneShare } from "../support/server-sound.ts";
import { folder, run, withTools } from "./tools.ts";

const TRUNKS = fileOf("examples/sip-trunk/pair/trunks.json");
const script = (name: string): string => fileOf(`examples/sip-trunk/pair/${name}.sh`);

/** What docs/sip.md lets a new user do with a server and a softphone on his own computer. */
withTools("the pair of docs/sip.md", ["baresip", "kamailio", "sox"], () => {
  const files = folder();
  const recordings = (): string[] =>
    readdirSync(join(files, "rec"))
      .filter((name) => name.endsWith("-dec.wav"))
      .sort();
  beforeAll(() => void run("bash", script("start"), files));
  afterAll(() => void run("bash", script("stop"), files));

  test("sip check finds everything in order", async () => {
    const { code, stdout } = await runCli(["sip", "check", "--json", "--call", "+12025550100"], {
      RINGPORT_SIP_TRUNKS: TRUNKS,
    });
    const { ok, trunks } = JSON.parse(stdout);
    expect({ code, ok }, stdout).toEqual({ code: 0, ok: true });
    expect(trunks[0].steps.at(-1)).toMatchObject({ name: "call", state: "works" });
    await until(recordings, (names) => names.length === 1, 5_000, "the recording of the check");
  });

  onEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
    const server = useServer(target, { env: { RINGPORT_SIP_TRUNKS: TRUNKS } });

    test("an instance becomes ACTIVE by itself, and the phone records what is played to it", async () => {
      const client = await server.as("admin");
      const { id } = await client.createInstance("Trunk");
      await client.waitForInstance(id, "ACTIVE");
      const before = recordings();
      const audio = { audioBase64: TONE_WAV.toString("base64") };
      const call = await client.call(id, { type: "FIXED_AUDIO", audio });
      expect((await client.waitForCall(call.id)).outcome?.reason).toBe("message_played");
      const fresh = () => recordings().filter((name) => !before.includes(name));
      const [name = ""] = await until(fresh, (names) => names.length === 1, 5_000, "the recording");
      const sound = readWav(readFileSync(join(files, "rec", name)));
      const { from, to } = loudPart(sound);
      expect((1000 * (to - from)) / sound.sampleRate).toBeGreaterThan(1_160);
      expect(toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, 1000)).toBeGreaterThan(0.95);
    });
  });
});
