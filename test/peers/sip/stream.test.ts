import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Listening, serve } from "../../../adapters/server/node.ts";
import { sip } from "../../../adapters/telephony/sip/index.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { until } from "../../support/server-client.ts";
import { loudPart, type Sound, toneShare } from "../../support/server-sound.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { expectTone, expectUnbroken } from "./expect-tone.ts";
import { Stage } from "./stage.ts";
import { StreamClient } from "./stream-client.ts";
import { waitedSince } from "./waited.ts";

const ADA = { userId: "ada" };
const HZ = 440;
/** The softphone's audio. Opus fills gaps of late packets with multiples of 2.5 ms: whole waves of this tone. */
const PEER_HZ = 800;
/** Compared sample by sample in real time: retried on a stalled machine. */
const REAL_TIME = { retry: 2 };
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const toneOf = (ms: number): Int16Array => tone(HZ, ms, 16_000, 8_000);
const msOf = ({ sampleRate }: Sound, samples: number): number => (samples * 1000) / sampleRate;

/** A call to a softphone that has answered, and the client of its stream. */
interface StreamedCall {
  readonly id: string;
  readonly client: StreamClient;
  readonly softphone: Baresip;
  readonly codec: "pcmu" | "opus";
  /** Time that this process, whose threads send the audio, waited for a processor during the call, ms. */
  readonly waitedMs: () => number;
}

interface Scenario {
  readonly title: string;
  readonly codecs?: readonly StreamedCall["codec"][];
  readonly run: (call: StreamedCall, ringport: Ringport) => Promise<void>;
}

/** Asserts the length of the tone in the softphone's recording; returns its position. */
const expectSpoken = ({ softphone, codec, waitedMs }: StreamedCall, ms: number, toleranceMs?: number) =>
  expectTone(softphone, { hz: HZ, ms, toleranceMs, pausesMs: waitedMs(), opus: codec === "opus" });

async function expectOutcome(ringport: Ringport, { id }: StreamedCall, reason: string): Promise<void> {
  const { status, outcome } = await ringport.calls.wait(ADA, id);
  expect([status, outcome?.reason], outcome?.detail ?? undefined).toEqual(["COMPLETED", reason]);
}

const SCENARIOS: readonly Scenario[] = [
  {
    title: "hears what the client streams, and the client hears it, both without a gap",
    async run(call, ringport) {
      const { client, codec } = call;
      client.speak(toneOf(3_000));
      client.sendMessage({ type: "mark", name: "said" });
      expect(await client.event("mark")).toMatchObject({ name: "said" });
      // The mark is reported when the last sample has been sent, neither earlier nor much later.
      const elapsedMs = client.timeOf("mark") - client.timeOf("answered");
      expect(elapsedMs).toBeGreaterThan(2_900);
      expect(elapsedMs).toBeLessThan(3_600);
      client.sendMessage({ type: "hangup" });
      expect(await client.event("completed")).toMatchObject({ reason: "stream_closed" });
      expect(await client.closed).toBe(1000);
      await expectOutcome(ringport, call, "stream_closed");
      await expectSpoken(call, 3_000);

      const { audio } = client;
      expect(Math.abs(msOf(audio, audio.samples.length) - elapsedMs)).toBeLessThan(500);
      const { from, to } = loudPart(audio, 500);
      expect(msOf(audio, to - from)).toBeGreaterThan(2_500);
      // The softphone settles in its first second.
      const calleePart = { ...audio, samples: audio.samples.subarray(from + audio.sampleRate, to) };
      expectUnbroken(calleePart, PEER_HZ, codec === "opus");
    },
  },
  {
    title: "hears all that was streamed before the hang-up",
    async run(call, ringport) {
      call.client.speak(toneOf(2_000));
      call.client.sendMessage({ type: "hangup" });
      expect(await call.client.closed).toBe(1000);
      await expectOutcome(ringport, call, "stream_closed");
      await expectSpoken(call, 2_000);
    },
  },
  {
    title: "hears all that was streamed before the client closed its socket",
    codecs: ["pcmu"],
    async run(call, ringport) {
      call.client.speak(toneOf(1_500));
      call.client.close(1000);
      await expectOutcome(ringport, call, "stream_closed");
      await expectSpoken(call, 1_500);
    },
  },
  {
    title: "hears nothing more after clear, which reports what was heard",
    async run(call, ringport) {
      const { client } = call;
      client.speak(toneOf(10_000));
      await wait(1_500);
      client.sendMessage({ type: "clear" });
      const { heard_ms: heardMs = 0 } = await client.event("cleared");
      expect(heardMs).toBeGreaterThan(1_000);
      expect(heardMs).toBeLessThan(2_000);
      await wait(500);
      client.sendMessage({ type: "hangup" });
      await expectOutcome(ringport, call, "stream_closed");
      const { endMs, callMs } = await expectSpoken(call, heardMs, 45);
      expect(callMs - endMs).toBeGreaterThan(300);
    },
  },
  {
    title: "gets the keys that the client presses, and its own reach the client",
    async run(call, ringport) {
      const { client, softphone } = call;
      client.sendMessage({ type: "dtmf", digits: "42#" });
      const pressedKeys = () =>
        softphone.events.filter(({ type }) => type === "CALL_DTMF_START").map(({ param }) => param);
      await until(pressedKeys, (keys) => keys.length === 3, 5_000, "three keys");
      expect(pressedKeys().join("")).toBe("42#");
      softphone.command("sndcode", "7");
      expect(await client.event("dtmf", 5_000)).toMatchObject({ digit: "7" });
      expect(client.events.filter(({ event }) => event === "dtmf")).toHaveLength(1);
      client.sendMessage({ type: "hangup" });
      await expectOutcome(ringport, call, "stream_closed");
    },
  },
  {
    title: "hangs up, and the client gets the reason",
    async run(call, ringport) {
      const { client, softphone } = call;
      client.speak(toneOf(5_000));
      await wait(1_000);
      softphone.command("hangup");
      expect(await client.event("completed")).toMatchObject({ reason: "callee_hung_up" });
      expect(await client.closed).toBe(1000);
      await expectOutcome(ringport, call, "callee_hung_up");
    },
  },
  {
    title: "holds the call and hears the rest afterwards",
    codecs: ["pcmu"],
    async run(call, ringport) {
      const { client, softphone, id } = call;
      const hasNoted = async (type: string) =>
        (await ringport.calls.timeline(ADA, id)).events.some((event) => event.type === type);
      client.speak(toneOf(3_000));
      client.sendMessage({ type: "mark", name: "said" });
      await wait(1_000);
      softphone.command("hold");
      await until(() => hasNoted("held"), Boolean, 5_000, "the hold");
      await wait(1_500);
      softphone.command("resume");
      await until(() => hasNoted("resumed"), Boolean, 5_000, "the end of the hold");
      await client.event("mark");
      // Audio held back during the hold was sent afterwards.
      const elapsedMs = client.timeOf("mark") - client.timeOf("answered");
      expect(elapsedMs).toBeGreaterThan(4_300);
      client.sendMessage({ type: "hangup" });
      await expectOutcome(ringport, call, "stream_closed");
      const { outcome } = await ringport.calls.wait(ADA, id);
      expect(outcome?.heardMs).toBe(3_000);
      // The softphone is heard again, and no time is missing: silence was reported during the hold.
      const { audio } = client;
      expect(toneShare({ ...audio, samples: audio.samples.slice(-audio.sampleRate) }, PEER_HZ)).toBeGreaterThan(0.95);
      expect(Math.abs(msOf(audio, audio.samples.length) - elapsedMs)).toBeLessThan(500);
    },
  },
];

describe.each(["thread", "worker"] as const)("with audio in a %s,", (media) => {
  withTools("the softphone of a streamed call", ["baresip", "openssl", "sox"], () => {
    const stage = new Stage();
    const calls = SCENARIOS.flatMap((scenario) =>
      (scenario.codecs ?? ["pcmu", "opus"]).map((codec) => ({ scenario, codec })),
    );
    const softphones: Baresip[] = [];
    let ringport: Ringport;
    let server: Listening;

    beforeAll(async () => {
      const keys = makeCertificates(stage.folder("keys"));
      for (const _ of calls) softphones.push(await startBaresip(stage, keys, PEER_HZ));
      const trunks = softphones.map(({ port }, i) => ({
        name: `trunk-${i}`,
        server: `sip:127.0.0.1:${port}`,
        users: "*" as const,
        codecs: calls[i]!.codec === "opus" ? (["opus", "PCMU"] as const) : (["PCMU"] as const),
      }));
      ringport = createRingport({
        telephony: sip({ trunks, media }),
        data: temporaryFolder("streamed"),
        streamPreview: true,
        authenticate: async () => ADA,
      });
      server = await serve(ringport, { port: 0 });
      await ringport.start();
    });
    afterAll(async () => {
      await ringport?.stop({ drainMs: 0 });
      await server?.close();
    });

    for (const [i, { scenario, codec }] of calls.entries())
      test.concurrent(`${scenario.title} (${codec})`, REAL_TIME, async () => {
        const { id: instanceId } = await ringport.instances.create(ADA, {
          name: `Line ${i}`,
          provider: `sip/trunk-${i}`,
        });
        await until(
          () => ringport.instances.get(ADA, instanceId),
          ({ status }) => status === "ACTIVE",
          8_000,
          "ACTIVE",
        );
        const waitedMs = waitedSince(process.pid);
        const call = await ringport.calls.create(ADA, {
          instanceId,
          type: "DYNAMIC_STREAM",
          target: { phoneNumber: NUMBERS[codec] },
        });
        try {
          const client = await StreamClient.attach(server.url, call.id);
          await client.event("answered");
          // Commands go to the call of the called account.
          softphones[i]!.command("uafind", `sip:${NUMBERS[codec]}@127.0.0.1:${softphones[i]!.port}`);
          await scenario.run({ id: call.id, client, softphone: softphones[i]!, codec, waitedMs }, ringport);
        } finally {
          await ringport.calls.hangUp(ADA, call.id).catch(() => {}); // the call may have ended already
        }
      });
  });
});
