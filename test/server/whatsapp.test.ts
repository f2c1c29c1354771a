import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tone } from "../../src/audio/tones/tone.ts";
import { run, type ServerProcess, start } from "../support/runtimes.ts";
import { describeEach, MAIN, ON_NODE, ON_OTHER_RUNTIMES } from "../support/server.ts";
import { Client, expected, HELLO, type InstanceView, until } from "../support/server-client.ts";
import { loudness, type Sound, toneMs, toneShare, toneWav } from "../support/server-sound.ts";
import { loudSound } from "../support/stream-calls.ts";
import { openStream } from "../support/stream-client.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = fileURLToPath(new URL("../support/whatsapp/server-program.ts", import.meta.url));

interface InstanceWithConnection extends InstanceView {
  readonly connection: { readonly condition: string | null; readonly reason: string | null };
}

/** Calls over linked WhatsApp numbers, whose network is scripted; codec and relays are the client's. */
describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], ({ runtime }) => {
  const data = temporaryFolder("whatsapp");
  let server: ServerProcess;
  let token: string;
  let phoneCount = 0;

  const startServer = async (): Promise<void> => {
    server = await start(runtime, PROGRAM, { env: { RINGPORT_DATA: data }, terminal: true });
  };
  const client = (): Client => new Client({ base: server.url, document: undefined, output: server.output() }, token);

  beforeAll(async () => {
    await startServer();
    const { stdout } = await run(runtime, MAIN, {
      args: ["token", "create", "--user", "ada"],
      env: { RINGPORT_DATA: data },
    });
    token = stdout.trim();
  });
  afterAll(async () => void (await server.stop("SIGKILL")));

  /** Links an instance as the phone's owner does, with the code in the picture. */
  async function linkInstance(): Promise<{ id: string; phone: string }> {
    const { id } = await client().createInstance();
    const phone = `+551191234567${phoneCount++}`;
    server.type(`scan ${await client().linkUrl(id)} ${phone}`);
    await client().waitForInstance(id, "ACTIVE");
    return { id, phone };
  }

  /** Audio that the callee heard; resolves once the phone has been notified of the call's end. */
  async function heardAudio(phone: string): Promise<Sound> {
    const file = join(data, `heard-${phone.slice(1)}.s16`);
    await until(() => existsSync(file), Boolean, 5_000, file);
    const bytes = new Uint8Array(readFileSync(file));
    return { sampleRate: 16_000, samples: new Int16Array(bytes.buffer) };
  }

  async function connectionOf(id: string): Promise<InstanceWithConnection["connection"]> {
    const response = await client().get(`/v1/instances/${id}?expand=connection`);
    return expected(200, response).json<InstanceWithConnection>().connection;
  }

  test.concurrent("a spoken message is heard in full", async () => {
    const { id } = await linkInstance();
    const to = "+12025550110";
    const call = await client().call(id, { target: { phoneNumber: to }, tts: HELLO });
    expect((await client().waitForCall(call.id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
    const sound = await heardAudio(to);
    expect(loudness(sound)).toBeGreaterThan(300);
    expect(loudSound(sound).ms).toBeGreaterThan(400);
  });

  test.concurrent("an audio file is heard without a gap", async () => {
    const { id } = await linkInstance();
    const to = "+12025550111";
    const audio = { audioBase64: toneWav({ ms: 2_000 }).toString("base64") };
    const call = await client().call(id, { type: "FIXED_AUDIO", target: { phoneNumber: to }, audio });
    expect((await client().waitForCall(call.id)).outcome).toMatchObject({ reason: "message_played", heard_ms: 2_000 });
    const sound = loudSound(await heardAudio(to));
    expect(Math.abs(sound.ms - 2_000)).toBeLessThanOrEqual(20);
    expect(toneShare(sound, 1_000)).toBeGreaterThanOrEqual(0.99);
  });

  test.concurrent("a call to a number whose only device is busy ends as busy", async () => {
    const { id } = await linkInstance();
    const call = await client().call(id, { target: { phoneNumber: "+12025550101" } });
    expect(await client().waitForCall(call.id)).toMatchObject({ status: "FAILED", outcome: { reason: "busy" } });
  });

  test.concurrent("a live stream carries audio both ways", async () => {
    const { id } = await linkInstance();
    const to = "+12025550105";
    const call = await client().call(id, { type: "DYNAMIC_STREAM", target: { phoneNumber: to } });
    const stream = await openStream(server.url, call.id, { token, query: { audio: "callee" } });
    await stream.event("answered");
    await stream.write(tone(1_000, 1_500, 16_000, 8_000));
    const calleeToneMs = (): number => toneMs(stream.sound(16_000), 440);
    await until(calleeToneMs, (ms) => ms > 1_400, 10_000, "the callee's tone");
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    expect(toneShare(loudSound(await heardAudio(to)), 1_000)).toBeGreaterThan(0.97);
    expect(calleeToneMs()).toBeLessThan(1_600);
  });

  test("a number stays linked through a restart, until its owner removes the device", async () => {
    const { id, phone } = await linkInstance();
    expect(await server.stop()).toBe(0);
    await startServer();
    await client().waitForInstance(id, "ACTIVE");
    server.type(`unlink ${phone}`);
    await client().waitForInstance(id, "CREATED");
    expect((await connectionOf(id)).reason).toContain("the device was removed");
    server.type(`scan ${await client().linkUrl(id)} ${phone}`);
    await client().waitForInstance(id, "ACTIVE");
  });
});
