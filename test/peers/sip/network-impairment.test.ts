import { describe, expect, test } from "vitest";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { until } from "../../support/server-client.ts";
import { toneShare } from "../../support/server-sound.ts";
import { callees, startFarEnd } from "../../support/sip/far-end.ts";
import { startLossyRelay } from "../../support/sip/lossy-relay.ts";
import type { NetworkConditions } from "../../support/sip/network-impairment.ts";
import { type Caller, openTrunk } from "./caller.ts";
import { SENT_HZ } from "./sound.ts";
import { Stage } from "./stage.ts";

/** Impairment of one call, and the part of a tone that must survive it. */
const MEDIA: readonly { readonly title: string; readonly conditions: NetworkConditions; readonly share: number }[] = [
  { title: "3 % of all packets lost", conditions: { loss: 0.03 }, share: 0.97 },
  { title: "bursts of 60 ms lost", conditions: { loss: 0.06, burst: 3 }, share: 0.95 },
  { title: "10 % arriving twice", conditions: { duplicates: 0.1 }, share: 0.995 },
  { title: "10 % overtaken by others", conditions: { reordered: 0.1, reorderDelayMs: 30, delayMs: 20 }, share: 0.995 },
  { title: "150 ms of delay and 40 ms of jitter", conditions: { delayMs: 150, jitterMs: 40 }, share: 0.98 },
  {
    title: "everything at once",
    conditions: { loss: 0.03, duplicates: 0.05, reordered: 0.05, jitterMs: 30 },
    share: 0.95,
  },
];

describe("a network with", () => {
  const stage = new Stage();
  const connectThrough = async (
    conditions: { signalling?: NetworkConditions; media?: NetworkConditions },
    seed: number,
    name: string,
  ) => {
    const farEnd = stage.add(await startFarEnd({ callees: { "*": callees.speaks } }), (it) => it.close());
    const relay = stage.add(await startLossyRelay({ to: farEnd, seed, ...conditions }), (it) => it.close());
    return { farEnd, relay, caller: await openTrunk(stage, { server: relay.uri }, name) };
  };
  const listenFor = async ({ dial }: Caller, ms: number) => {
    const call = await dial();
    await call.events.next("connected", 15_000);
    const startedAt = performance.now();
    await until(
      () => call.recorder.frames.length * 20,
      (receivedMs) => receivedMs >= ms,
      ms + 5_000,
      `${ms} ms of sound`,
    );
    const elapsedMs = performance.now() - startedAt;
    await call.leg.hangUp();
    await call.events.over;
    expect(call.events.cause).toBe("released");
    return { ...call, elapsedMs };
  };

  for (const [i, { title, conditions, share }] of MEDIA.entries())
    test.concurrent(`${title} carries a call: the tone is present at full length`, async () => {
      const { relay, farEnd, caller } = await connectThrough({ media: conditions }, 10 + i, `media-${i}`);
      const { leg, recorder, elapsedMs } = await listenFor(caller, 5_000);
      const heardSound = {
        sampleRate: leg.sampleRate,
        samples: concatPcm(recorder.frames).subarray(leg.sampleRate / 2),
      };
      expect(toneShare(heardSound, 1000)).toBeGreaterThan(share);
      expect(elapsedMs).toBeLessThan(6_000); // frames arrive on schedule, lost or not
      const call = farEnd.calls[0]!;
      const { samples, gaps } = call.voice!.heardAudio();
      const missingSamples = gaps.reduce((sum, gap) => sum + gap.samples, 0);
      expect(toneShare({ sampleRate: 8000, samples }, SENT_HZ)).toBeGreaterThan(
        1 - missingSamples / samples.length - 0.02,
      );
      expect(gaps.every((gap) => gap.samples > 0 && gap.samples % 160 === 0)).toBe(true);
      if (conditions.loss) expect(relay.media.lost).toBeGreaterThan(5);
      if (conditions.duplicates) expect(relay.media.duplicated).toBeGreaterThan(10);
      if (conditions.reordered) expect(relay.media.reordered).toBeGreaterThan(10);
      const statistics = leg.statistics?.();
      if (conditions.loss) expect(statistics!.packetsLost).toBeGreaterThan(0);
      if (conditions.duplicates) expect(statistics!.packetsDuplicated).toBeGreaterThan(0);
      expect(call.count("BYE")).toBe(1);
    });

  const FIRST_MESSAGES = ["INVITE", "SIP/2.0 180", "SIP/2.0 200", "ACK", "BYE"];
  for (const firstMessage of FIRST_MESSAGES)
    test.concurrent(`the first ${firstMessage} lost carries a call`, async () => {
      let lostCount = 0;
      const loses = (datagram: Buffer): boolean =>
        datagram.toString("latin1").startsWith(`${firstMessage} `) && lostCount++ === 0;
      const { farEnd, caller } = await connectThrough(
        { signalling: { loses } },
        1,
        `first-${FIRST_MESSAGES.indexOf(firstMessage)}`,
      );
      await listenFor(caller, 1_500);
      expect(lostCount).toBeGreaterThanOrEqual(firstMessage.includes("180") ? 1 : 2); // it was retransmitted
      const [call] = farEnd.calls;
      await until(
        () => call!.end,
        (end) => end !== undefined,
        5_000,
        "the end at the callee",
      );
      expect([farEnd.calls.length, call!.end, call!.count("INVITE"), call!.count("BYE")]).toEqual([
        1,
        "caller hung up",
        1,
        1,
      ]);
    });

  test.concurrent.each([21, 22, 23, 24, 25, 26])(
    "a third of the datagrams lost sets up and ends calls (%i)",
    async (seed) => {
      const signalling = { loss: 0.3, reordered: 0.3, reorderDelayMs: 80, duplicates: 0.2 };
      const { relay, caller } = await connectThrough({ signalling }, seed, `storm-${seed}`);
      await listenFor(caller, 500);
      expect(relay.signalling.lost + relay.signalling.reordered + relay.signalling.duplicated).toBeGreaterThan(0);
    },
  );
});
