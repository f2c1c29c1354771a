import { readFileSync } from "node:fs";
import { type Client, createClient } from "ringport/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { relayTo } from "../../support/relay.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, Server } from "../../support/server.ts";
import { until } from "../../support/server-client.ts";
import { loudPart } from "../../support/server-sound.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { type ExpectedTone, expectTone, expectUnbroken } from "./expect-tone.ts";
import { follow, hangUp, nameOf, timeOf, writePieces } from "./followed-stream.ts";
import { Stage } from "./stage.ts";
import { waitedSince } from "./waited.ts";

const HZ = 440;
/** Frequency of the softphone's tone. */
const SOFTPHONE_HZ = 1_010;
const RATE = 16_000;
/** Audio is compared sample by sample in real time, so a stalled machine needs retries. */
const REAL_TIME = { retry: 2 };
const toneOf = (ms: number, sampleRate = RATE): Int16Array => tone(HZ, ms, sampleRate, 8_000);
const MP3 = new URL("../../fixtures/tone-44k-stereo-id3.mp3", import.meta.url);
const MP3_TONE = { hz: 1_000, ms: 3_000 };

/** A call to a softphone, over a server in a separate process. */
interface PlacedCall {
  readonly id: string;
  readonly url: string;
  readonly softphone: Baresip;
  /** Expects this tone at the softphone. */
  readonly expectHeard: (tone: ExpectedTone) => ReturnType<typeof expectTone>;
  /** Creates a client, optionally for another address. */
  client(url?: string): Client;
}

interface Scenario {
  readonly title: string;
  /** Set if the server behaves the same on every runtime, so one run is enough. */
  readonly onNodeOnly?: true;
  readonly run: (call: PlacedCall) => Promise<void>;
}

/** Expects the softphone's audio at the client, except during the first second. */
function expectSoftphoneTone(frames: readonly Int16Array[], sampleRate: number): void {
  expect(new Set(frames.map(({ length }) => length))).toEqual(new Set([sampleRate / 50]));
  const samples = concatPcm(frames);
  const { from, to } = loudPart({ sampleRate, samples }, 500);
  expect((to - from) / sampleRate).toBeGreaterThan(1.75);
  expectUnbroken({ sampleRate, samples: samples.subarray(from + sampleRate, to) }, SOFTPHONE_HZ);
}

const SCENARIOS: readonly Scenario[] = [
  {
    title: "is heard, hears the callee, and gets the events",
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id);
      const { stream, events, frames } = session;
      await writePieces(session, new Uint8Array(toneOf(2_500).buffer));
      await hangUp(session);
      await expectHeard({ hz: HZ, ms: 2_500 });

      expect(events.map(nameOf)).toEqual(["ringing", "answered", "transcripts_unavailable", "mark", "completed"]);
      const elapsedMs = timeOf(events, "mark") - timeOf(events, "answered");
      expect(elapsedMs).toBeGreaterThan(2_400);
      expect(stream.dropped).toEqual({ frames: 0, events: 0 });
      expect(Math.abs(frames.length * 20 - elapsedMs)).toBeLessThan(1_000);
      expectSoftphoneTone(frames, RATE);
      expect(await client().waitForCall(id)).toMatchObject({
        status: "COMPLETED",
        outcome: { reason: "stream_closed", heard_ms: 2_500 },
      });
    },
  },
  {
    title: "is heard in mu-law, the trunk's encoding, and gets mu-law",
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id, { encoding: "mulaw" });
      await writePieces(session, encodeMulaw(toneOf(2_000, 8_000)));
      await hangUp(session);
      await expectHeard({ hz: HZ, ms: 2_000 });
      expectSoftphoneTone(session.frames, 8_000);
    },
  },
  {
    title: "is heard in A-law, and gets A-law",
    onNodeOnly: true,
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id, { encoding: "alaw" });
      await writePieces(session, encodeAlaw(toneOf(2_000, 8_000)));
      await hangUp(session);
      await expectHeard({ hz: HZ, ms: 2_000 });
      expectSoftphoneTone(session.frames, 8_000);
    },
  },
  {
    title: "is heard in 44.1 kHz PCM, and gets 44.1 kHz PCM",
    onNodeOnly: true,
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id, { sampleRate: 44_100 });
      await writePieces(session, new Uint8Array(toneOf(2_000, 44_100).buffer));
      await hangUp(session);
      await expectHeard({ hz: HZ, ms: 2_000 });
      expectSoftphoneTone(session.frames, 44_100);
    },
  },
  {
    title: "is heard in an MP3 split at arbitrary bytes",
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id, { encoding: "mp3" });
      await writePieces(session, readFileSync(MP3));
      await hangUp(session);
      await expectHeard(MP3_TONE);
    },
  },
  {
    title: "is silent after clear, which reports how much was heard",
    onNodeOnly: true,
    async run({ id, client, expectHeard }) {
      const session = await follow(client(), id);
      const { stream } = session;
      await stream.write(toneOf(1_000));
      const firstMark = stream.mark("first");
      void stream.write(toneOf(30_000));
      const laterMark = stream.mark("never");
      expect(await firstMark).toBe("reached");
      const heardMs = await stream.clear();
      expect(await laterMark).toBe("cleared");
      expect(heardMs).toBeGreaterThanOrEqual(1_000);
      expect(heardMs).toBeLessThan(2_000);
      await stream.write(new Int16Array(RATE / 2));
      await hangUp(session);
      const { endMs, callMs } = await expectHeard({ hz: HZ, ms: heardMs });
      expect(callMs - endMs).toBeGreaterThan(300);
    },
  },
  {
    title: "gets a key press and the callee's hang-up",
    onNodeOnly: true,
    async run({ id, client, softphone }) {
      const { stream, events, ended } = await follow(client(), id);
      void stream.write(toneOf(30_000));
      const laterMark = stream.mark("never");
      await until(() => events.map(nameOf).includes("answered"), Boolean, 8_000, "the answer");
      // Commands go to the call of the called account.
      softphone.command("uafind", `sip:${NUMBERS.pcmu}@127.0.0.1:${softphone.port}`);
      softphone.command("sndcode", "7");
      await until(() => events.map(nameOf).includes("dtmf"), Boolean, 5_000, "a key");
      softphone.command("hangup");
      expect(await stream.ended).toEqual({ status: "completed", reason: "callee_hung_up" });
      expect(await laterMark).toBe("ended");
      expect(await stream.write(toneOf(20))).toBe(false);
      await ended;
      expect(events.filter((event) => nameOf(event) === "dtmf")).toMatchObject([{ digit: "7" }]);
      expect(events.at(-1)).toMatchObject({ event: "completed", reason: "callee_hung_up" });
    },
  },
  {
    title: "can lose its connection without an audible gap",
    onNodeOnly: true,
    async run({ id, url, client, expectHeard }) {
      const relay = await relayTo(url);
      try {
        const session = await follow(client(relay.url.replace(/\/$/, "")), id);
        const { stream, events } = session;
        await stream.write(toneOf(500));
        const firstMark = stream.mark("first");
        const samples = toneOf(4_000);
        await stream.write(samples.subarray(RATE / 2, 3 * RATE));
        expect(await firstMark).toBe("reached");
        await relay.cut();
        const lateWrite = stream.write(samples.subarray(3 * RATE));
        await relay.repair();
        await lateWrite;
        expect(await stream.mark("said")).toBe("reached");
        await hangUp(session);
        await expectHeard({ hz: HZ, ms: 4_000 });
        expect(events.map(nameOf).filter((name) => name !== "transcripts_unavailable")).toEqual([
          ...["ringing", "answered", "mark", "mark", "completed"],
        ]);
      } finally {
        await relay.cut();
      }
    },
  },
  {
    title: "gets a ticket for a WebSocket that cannot send headers",
    onNodeOnly: true,
    async run({ id, client, expectHeard }) {
      const { url } = await client().calls.streamTicket(id);
      const socket = new WebSocket(url);
      const eventNames: string[] = [];
      socket.addEventListener("open", () => {
        socket.send(toneOf(1_000) as Int16Array<ArrayBuffer>);
        socket.send(JSON.stringify({ type: "mark", name: "said" }));
      });
      socket.addEventListener("message", ({ data }) => {
        const { event } = JSON.parse(String(data)) as { event: string };
        eventNames.push(event);
        if (event === "mark") socket.send(JSON.stringify({ type: "hangup" }));
      });
      const code = await new Promise((resolve) => socket.addEventListener("close", (event) => resolve(event.code)));
      expect([code, eventNames.at(-1)]).toEqual([1000, "completed"]);
      await expectHeard({ hz: HZ, ms: 1_000 });
    },
  },
];

withTools("a client whose call goes to a softphone", ["baresip", "openssl", "sox"], () => {
  const stage = new Stage();
  let keys: Certificates;
  const starts: (() => Promise<void>)[] = [];
  // All programs start before any call, because a start would disturb running calls.
  beforeAll(async () => {
    keys = makeCertificates(stage.folder("keys"));
    await Promise.all(starts.map((start) => start()));
  });

  describe.concurrent("on a server under", () => {
    describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
      const scenarios = SCENARIOS.filter(({ onNodeOnly }) => !onNodeOnly || target === ON_NODE);
      let softphones: Baresip[];
      let server: Server;
      let token = "";

      const start = async (): Promise<void> => {
        softphones = await Promise.all(scenarios.map(() => startBaresip(stage, keys, SOFTPHONE_HZ)));
        const trunks = softphones.map(({ port }, i) => ({ name: `trunk-${i}`, server: `sip:127.0.0.1:${port}` }));
        server = new Server(target, {
          env: { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIP_TRUNKS: JSON.stringify(trunks) },
        });
        await server.start();
        token = server.firstToken;
      };
      if (!target.missing) starts.push(start);
      afterAll(() => server?.dispose());

      for (const [i, { title, run }] of scenarios.entries())
        test(title, REAL_TIME, async () => {
          const client = (url = server.base): Client => createClient({ url, token });
          const line = await client().instances.create({ name: `Line ${i}`, provider: `sip/trunk-${i}` });
          await until(
            () => client().instances.get(line.id),
            ({ status }) => status === "ACTIVE",
            8_000,
            "ACTIVE",
          );
          const { id } = await client().calls.create({
            instanceId: line.id,
            type: "DYNAMIC_STREAM",
            target: { phoneNumber: NUMBERS.pcmu },
          });
          try {
            const softphone = softphones[i]!;
            const waitedMs = waitedSince(server.pid);
            const expectHeard = (tone: ExpectedTone) => expectTone(softphone, { pausesMs: waitedMs(), ...tone });
            await run({ id, url: server.base, softphone, expectHeard, client });
          } finally {
            await client()
              .calls.hangUp(id)
              .catch(() => {}); // the call may have ended already
          }
        });
    });
  });
});
