import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, type TestContext, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { begin, type Program } from "../examples/program.ts";
import { ON_NODE, ON_OTHER_RUNTIMES, onEach, type Server, useServer } from "../support/server.ts";
import { type CallView, type Client, expected, until } from "../support/server-client.ts";
import { loudness, loudPart, phaseJump, type Sound, toneShare } from "../support/server-sound.ts";
import { connectStream } from "../support/stream-client.ts";
import { levelOf, TwilioBot, type TwilioBotOptions } from "../support/twilio-bot.ts";

const BRIDGE = fileURLToPath(new URL("../../examples/twilio-bridge.ts", import.meta.url));
const NUMBERS = {
  listens: "+12025550100",
  busy: "+12025550101",
  ringsOn: "+12025550102",
  hangsUp: "+12025550104",
  greetsAndBeeps: "+12025550105",
  pressesKeys: "+12025550107",
} as const;

async function placeCall(server: Server, number: string): Promise<{ client: Client; callId: string }> {
  const client = await server.as("ada");
  const { id } = await client.activeInstance();
  const call = await client.call(id, { type: "DYNAMIC_STREAM", target: { phoneNumber: number }, tts: undefined });
  return { client, callId: call.id };
}

/** A bot at the stream of a call, as a client of ours. */
async function attach(
  server: Server,
  { client, callId }: { client: Client; callId: string },
  options: TwilioBotOptions = {},
  parameters = "",
): Promise<TwilioBot> {
  const url = `${server.base.replace(/^http/, "ws")}/v1/calls/${callId}/stream?protocol=twilio${parameters}`;
  const { ws } = await connectStream(url, { authorization: `Bearer ${client.token}` });
  // What reads every binary message as sound and every text as one of ours gives way.
  ws.removeAllListeners();
  return new TwilioBot(ws, options);
}

/** A bot as Twilio knows it, a WebSocket server, and the bridge that brings it to a call. */
async function bridge(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  server: Server,
  { client, callId }: { client: Client; callId: string },
  options: TwilioBotOptions = {},
): Promise<{ program: Program; bots: TwilioBot[]; signatures: unknown[]; url: string }> {
  const bots: TwilioBot[] = [];
  const signatures: unknown[] = [];
  const listening = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => listening.close());
  listening.on("connection", (ws: WebSocket, request) => {
    bots.push(new TwilioBot(ws, options));
    signatures.push(request.headers["x-twilio-signature"]);
  });
  await once(listening, "listening");
  const url = `ws://127.0.0.1:${(listening.address() as AddressInfo).port}/media`;
  const env = { RINGPORT_URL: server.base, RINGPORT_TOKEN: client.token ?? "", TWILIO_AUTH_TOKEN: "secret" };
  const program = begin(server.target.runtime, [BRIDGE, callId, url], server.data, env);
  onTestFinished(program.end);
  return { program, bots, signatures, url };
}

const closed = (bot: TwilioBot): Promise<TwilioBot["closed"]> =>
  until(
    () => bot.closed,
    (one) => one !== undefined,
    20_000,
    "the bot to be let go",
  );

const heardBy = (codes: Buffer): Sound => ({ sampleRate: 8_000, samples: Int16Array.from(codes, levelOf) });

/** Where the callee heard exactly these samples, or -1. */
function findIn({ samples }: Sound, wanted: Int16Array): number {
  const first = wanted.findIndex((sample) => sample !== 0);
  for (let at = samples.indexOf(wanted[first]!); at >= 0; at = samples.indexOf(wanted[first]!, at + 1)) {
    const from = at - first;
    if (from >= 0 && wanted.every((sample, i) => samples[from + i] === sample)) return from;
  }
  return -1;
}

function part({ sampleRate, samples }: Sound, from: number, to: number): Sound {
  return { sampleRate, samples: samples.subarray(from, to) };
}

/** For how long a tone is heard, ms: 20 ms at a time that are nothing else. */
function toneMs(sound: Sound, hz: number): number {
  const windows = Array.from({ length: Math.floor(sound.samples.length / 160) }, (_, i) =>
    part(sound, 160 * i, 160 * (i + 1)),
  );
  return 20 * windows.filter((window) => loudness(window) > 500 && toneShare(window, hz) > 0.95).length;
}

function expectClosedOnPurpose(call: CallView): void {
  expect([call.status, call.outcome?.reason]).toEqual(["COMPLETED", "stream_closed"]);
}

// The telephone network's own rate: what the bot says is heard sample by sample.
const SETTINGS = { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_SAMPLE_RATE: "8000" };

onEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  describe("a bot for Twilio Media Streams", () => {
    const server = useServer(target, { env: SETTINGS });

    test("says back what the callee said, and the callee hears it exactly", async () => {
      const call = await placeCall(server, NUMBERS.greetsAndBeeps);
      const bot = await attach(server, call, { hangUpAt: "utterance 1" }, "&parameter.FirstName=Jane");
      await closed(bot);
      expectClosedOnPurpose(await call.client.waitForCall(call.callId));

      const [connected, start, ...rest] = bot.messages;
      expect(connected).toEqual({ event: "connected", protocol: "Call", version: "1.0.0" });
      expect(start?.start).toEqual({
        accountSid: expect.stringMatching(/^usr_/),
        streamSid: start?.streamSid,
        callSid: call.callId,
        tracks: ["inbound"],
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
        customParameters: { FirstName: "Jane" },
      });
      expect(start?.streamSid).toMatch(/^MZ[0-9a-f]{32}$/);
      expect([start, ...rest].map((one) => one?.sequenceNumber)).toEqual(
        bot.messages.slice(1).map((_, i) => `${i + 1}`),
      );
      expect(bot.of("media").map(({ media }) => [media?.track, media?.chunk, media?.timestamp])).toEqual(
        bot.of("media").map((_, i) => ["inbound", `${i + 1}`, `${20 * i}`]),
      );

      // A sentence and a beep of 1 kHz: the bot has heard both, and so has the callee, once more.
      const said = heardBy(bot.utterances[0]!);
      const { to } = loudPart(said);
      expect(toneShare(part(said, to - 3_000, to - 80), 1_000)).toBeGreaterThan(0.95);
      const heard = await call.client.heard(call.callId);
      expect(heard.sampleRate).toBe(8_000);
      const at = findIn(heard, said.samples);
      expect(at, "the utterance in what was heard").toBeGreaterThanOrEqual(0);
      expect(loudness(part(heard, at, at + to))).toBeGreaterThan(500);
      const beep = part(heard, at + to - 3_000, at + to - 80);
      expect(toneShare(beep, 1_000)).toBeGreaterThan(0.95);
      expect(phaseJump(beep, 1_000)).toBeLessThan(0.5);
    });

    test("is told by stop when the callee hangs up", async () => {
      const call = await placeCall(server, NUMBERS.hangsUp);
      const bot = await attach(server, call);
      expect(await closed(bot)).toMatchObject({ code: 1000 });
      const { accountSid, callSid, streamSid } = bot.of("start")[0]?.start ?? {};
      expect(bot.messages.at(-1)).toEqual({
        event: "stop",
        sequenceNumber: String(bot.messages.length - 1),
        stop: { accountSid, callSid },
        streamSid,
      });
      expect((await call.client.waitForCall(call.callId)).outcome?.reason).toBe("callee_hung_up");
    });

    test("is told nothing of a call that nobody answers", async () => {
      const call = await placeCall(server, NUMBERS.ringsOn);
      const bot = await attach(server, call);
      expected(204, await call.client.delete(`/v1/calls/${call.callId}`));
      expect(await closed(bot)).toMatchObject({ code: 4010 });
      expect(bot.messages).toEqual([]);
    });

    test("may send what Twilio would not understand: one warning in the log, and the call goes on", async () => {
      const call = await placeCall(server, NUMBERS.listens);
      const bot = await attach(server, call, { greeting: { hz: 500, ms: 600 }, hangUpAt: "greeting" });
      for (const nonsense of [
        "{",
        "[]",
        Buffer.from([1, 2, 3]),
        { event: "hangup" },
        { event: "clear", streamSid: "MZ0" },
      ])
        bot.send(nonsense);
      await closed(bot);
      expectClosedOnPurpose(await call.client.waitForCall(call.callId));
      const heard = await call.client.heard(call.callId);
      const { from, to } = loudPart(heard);
      expect(Math.abs(to - from - 4_800)).toBeLessThan(20);
      expect(toneShare(part(heard, from, to), 500)).toBeGreaterThan(0.99);
      const warnings = server.output.split("\n").filter((line) => line.includes(call.callId));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("a message came that is no JSON object");
    });
  });

  describe("a bot for Twilio Media Streams, and callees who take their time", () => {
    const server = useServer(target, {
      env: { ...SETTINGS, RINGPORT_SIMULATOR_TIME_SCALE: "3" },
    });

    test.concurrent("falls silent when a key is pressed: what was dropped is told by its mark, and never heard", async () => {
      const call = await placeCall(server, NUMBERS.pressesKeys);
      const bot = await attach(server, call, {
        greeting: { hz: 500, ms: 5_000 },
        goodbye: { hz: 700, ms: 300, after: "#" },
        hangUpAt: "goodbye",
      });
      await closed(bot);
      expectClosedOnPurpose(await call.client.waitForCall(call.callId));
      expect(bot.of("dtmf").map(({ dtmf }) => [dtmf?.track, dtmf?.digit])).toEqual(
        [..."1234#"].map((digit) => ["inbound_track", digit]),
      );
      const marks = bot.marks.filter((name) => !name.startsWith("utterance"));
      expect(marks).toEqual(["greeting", "goodbye"]);
      const story = bot.messages.map(({ event }) => event);
      expect(story.indexOf("mark")).toBeGreaterThan(story.indexOf("dtmf"));

      // Five seconds were sent, and the first key was pressed a second and a half after the answer.
      const heard = await call.client.heard(call.callId);
      expect(toneMs(heard, 500)).toBeGreaterThan(500);
      expect(toneMs(heard, 500)).toBeLessThan(3_500);
      expect(Math.abs(toneMs(heard, 700) - 300)).toBeLessThanOrEqual(40);
    });

    test.concurrent("that was written as a server runs unchanged behind the bridge", async (context) => {
      const call = await placeCall(server, NUMBERS.greetsAndBeeps);
      const { program, bots, signatures } = await bridge(context, server, call, { hangUpAt: "utterance 1" });
      expect(await program.ended).toContain("The bot has let go");
      expectClosedOnPurpose(await call.client.waitForCall(call.callId));
      expect(bots).toHaveLength(1);
      const [bot] = bots;
      expect(bot?.messages.slice(0, 2).map(({ event }) => event)).toEqual(["connected", "start"]);
      expect(signatures).toEqual([expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/)]);
      const said = heardBy(bot!.utterances[0]!);
      expect(loudness(said)).toBeGreaterThan(300);
      expect(findIn(await call.client.heard(call.callId), said.samples)).toBeGreaterThanOrEqual(0);
    });

    test.concurrent("behind the bridge is not dialled for a call that nobody answers", async (context) => {
      const { client, callId } = await placeCall(server, NUMBERS.ringsOn);
      const { program, bots } = await bridge(context, server, { client, callId });
      const attached = async (): Promise<string> => (await client.get(`/v1/calls/${callId}/stream`)).text;
      await until(attached, (text) => text.includes("stream_already_attached"), 20_000, "the bridge to be there");
      expected(204, await client.delete(`/v1/calls/${callId}`));
      await expect(program.ended).rejects.toThrow("The call has let go (4010 the call failed)");
      expect(bots).toEqual([]);
    });

    test.concurrent("behind the bridge is told when the call is ended, and let go", async (context) => {
      const { client, callId } = await placeCall(server, NUMBERS.listens);
      const { program, bots } = await bridge(context, server, { client, callId });
      await until(
        () => bots[0]?.of("media").length ?? 0,
        (heard) => heard > 0,
        20_000,
        "the bot to hear something",
      );
      expected(204, await client.delete(`/v1/calls/${callId}`));
      await program.ended.catch(() => {}); // whether it was a success is not the bot's business
      expect(await closed(bots[0]!)).toMatchObject({ code: 1000 });
      expect(bots[0]?.messages.at(-1)?.event).toBe("stop");
    });

    test.concurrent("the bridge says why there is no stream", async (context) => {
      const { client } = await placeCall(server, NUMBERS.busy);
      const { program } = await bridge(context, server, { client, callId: "call_01k7zq3n5de7h9k1m3p5r7t9vb" });
      await expect(program.ended).rejects.toThrow("call_not_found");
    });
  });
});
