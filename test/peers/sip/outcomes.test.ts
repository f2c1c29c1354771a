import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../adapters/telephony/sip/index.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { until } from "../../support/server-client.ts";
import { loudPart, phaseJump, toneShare, toneWav } from "../../support/server-sound.ts";
import { callees, type FarEnd, type FarEndCall, type Script, startFarEnd } from "../../support/sip/far-end.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { CALLEE } from "./caller.ts";
import { Stage } from "./stage.ts";

const HZ = 440;
const MESSAGE_MS = 3_000;
const MESSAGE = toneWav({ hz: HZ, ms: MESSAGE_MS, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
const ADA = { userId: "ada" };

/** A call that plays three seconds of a tone to one callee. */
interface Scenario {
  readonly title: string;
  readonly callee: Script;
  readonly trunk?: Partial<Trunk>;
  readonly address?: string;
  /** Acts during the call. */
  readonly actDuringCall?: (at: {
    ringport: Ringport;
    farEnd: FarEnd;
    call: Call;
    farEndCall: () => Promise<FarEndCall>;
  }) => Promise<unknown>;
  readonly status: "COMPLETED" | "FAILED";
  readonly reason: string;
  readonly heardMs?: readonly [min: number, max: number];
  readonly detail?: RegExp;
  /** True if the callee heard the whole message, and no other sound. */
  readonly hearsAll?: boolean;
  readonly end?: FarEndCall["end"];
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const playedOutcome = {
  status: "COMPLETED",
  reason: "message_played",
  heardMs: [MESSAGE_MS, MESSAGE_MS],
  whole: true,
  end: "caller hung up",
} as const;

const SCENARIOS: readonly Scenario[] = [
  { title: "hears the message from its first to its last sample", callee: callees.speaks, ...playedOutcome },
  { title: "hears the message over IPv6", callee: callees.speaks, address: "::1", ...playedOutcome },
  { title: "hears the message in A-law", callee: { codecs: ["PCMA"] }, ...playedOutcome },
  {
    title: "requires SHA-256 and reports the first nonce as stale hears the message",
    callee: callees.challenges({
      user: "agent",
      password: "s3cret",
      algorithms: ["SHA-512-256", "SHA-256", "MD5"],
      staleCount: 1,
    }),
    trunk: { user: "agent", password: "s3cret" },
    ...playedOutcome,
  },
  {
    title: "puts us on hold midway hears the rest afterwards",
    callee: callees.holds(1_000, 1_500),
    ...playedOutcome,
  },
  { title: "answers on hold and resumes hears the message", callee: callees.answersOnHold(1_500), ...playedOutcome },
  {
    // It responds to OPTIONS, so the message is played whole; there is no evidence that it was received.
    title: "sends neither audio nor RTCP causes a failure after the whole message",
    callee: callees.silent,
    trunk: { mediaLossMs: 1_500 },
    ...{ status: "FAILED", reason: "media_failed", detail: /neither audio nor RTCP/, end: "caller hung up" },
    heardMs: [MESSAGE_MS, MESSAGE_MS],
  },
  {
    title: "puts us on hold for too long is hung up on",
    callee: callees.holds(500, 60_000),
    trunk: { holdTimeoutMs: 1_000 },
    ...{ status: "FAILED", reason: "media_failed", detail: /held/i, heardMs: [300, 1_000], end: "caller hung up" },
  },
  {
    title: "answers on hold and does not resume is hung up on",
    callee: callees.answersOnHold(60_000),
    trunk: { holdTimeoutMs: 1_000 },
    ...{ status: "FAILED", reason: "media_failed", detail: /held/i, heardMs: [0, 0], end: "caller hung up" },
  },
  {
    title: "vanishes midway causes a failure in time",
    callee: callees.speaks,
    trunk: { mediaLossMs: 1_500 },
    async actDuringCall({ farEnd, farEndCall }) {
      await (await farEndCall()).established;
      await wait(1_000);
      farEnd.isUnplugged = true;
      (await farEndCall()).close();
    },
    ...{ status: "FAILED", reason: "media_failed", detail: /stopped sending audio/i, heardMs: [2_000, 3_000] },
  },
  {
    title: "is busy",
    callee: callees.busy,
    status: "FAILED",
    reason: "busy",
    detail: /486/,
    heardMs: [0, 0],
    end: "refused",
  },
  { title: "declines", callee: callees.declines, status: "FAILED", reason: "declined", detail: /603/, end: "refused" },
  {
    title: "does not exist",
    callee: callees.unknown,
    status: "FAILED",
    reason: "number_invalid",
    detail: /404/,
    end: "refused",
  },
  {
    title: "never answers",
    callee: callees.rings,
    status: "FAILED",
    reason: "no_answer",
    heardMs: [0, 0],
    end: "cancelled",
  },
  {
    title: "hangs up midway has heard part of the message",
    callee: { says: { hz: 1000 }, acts: (call) => wait(1_200).then(() => call.hangUp()) },
    ...{ status: "COMPLETED", reason: "callee_hung_up", heardMs: [1_000, 1_500], end: "callee hung up" },
  },
  {
    title: "rings while the caller hangs up gets a CANCEL",
    callee: callees.rings,
    async actDuringCall({ ringport, call }) {
      await until(
        () => ringport.calls.get(ADA, call.id),
        ({ status }) => status === "RINGING",
        5_000,
        "RINGING",
      );
      await ringport.calls.hangUp(ADA, call.id);
    },
    ...{ status: "FAILED", reason: "terminated", heardMs: [0, 0], end: "cancelled" },
  },
  {
    title: "listens while the caller hangs up gets a BYE",
    callee: callees.speaks,
    async actDuringCall({ ringport, call }) {
      await until(
        () => ringport.calls.get(ADA, call.id),
        ({ status }) => status === "IN_PROGRESS",
        5_000,
        "IN_PROGRESS",
      );
      await wait(700);
      await ringport.calls.hangUp(ADA, call.id);
    },
    ...{ status: "FAILED", reason: "terminated", heardMs: [400, 1_300], end: "caller hung up" },
  },
  {
    title: "answers without SDP",
    callee: callees.answersWithoutSdp,
    status: "FAILED",
    reason: "media_failed",
    detail: /SDP/,
  },
  {
    title: "supports none of our codecs",
    callee: callees.noCommonCodec,
    status: "FAILED",
    reason: "media_failed",
    detail: /codec/i,
  },
];

describe("a callee who", () => {
  const stage = new Stage();
  const farEnds = new Map<Scenario, FarEnd>();
  let ringport: Ringport;

  beforeAll(async () => {
    const trunks: Trunk[] = [];
    for (const [i, scenario] of SCENARIOS.entries()) {
      const address = scenario.address === undefined ? {} : { address: scenario.address };
      const farEnd = stage.add(await startFarEnd({ callees: { "*": scenario.callee }, ...address }), (it) =>
        it.close(),
      );
      farEnds.set(scenario, farEnd);
      trunks.push({ name: `story-${i}`, server: farEnd.uri, users: "*", ...scenario.trunk });
    }
    const telephony = sip({ trunks });
    ringport = createRingport({ telephony, data: temporaryFolder("outcomes"), ringTimeoutMs: 2_500 });
    await ringport.start();
  });
  afterAll(() => ringport.stop({ drainMs: 0 }));

  for (const [i, scenario] of SCENARIOS.entries())
    test.concurrent(scenario.title, async () => {
      const farEnd = farEnds.get(scenario)!;
      const { id } = await ringport.instances.create(ADA, { name: `Line ${i}`, provider: `sip/story-${i}` });
      await until(
        () => ringport.instances.get(ADA, id),
        ({ status }) => status === "ACTIVE",
        8_000,
        "ACTIVE",
      );
      const input = {
        instanceId: id,
        type: "FIXED_AUDIO",
        target: { phoneNumber: CALLEE },
        audio: { audioBase64: MESSAGE },
      } as const;
      const call = await ringport.calls.create(ADA, input);
      await scenario.actDuringCall?.({ ringport, farEnd, call, farEndCall: () => farEnd.call() });
      const { status, outcome, mediaStatistics } = await ringport.calls.wait(ADA, call.id);
      expect([status, outcome?.reason], outcome?.detail ?? undefined).toEqual([scenario.status, scenario.reason]);
      if (scenario.detail) expect(outcome?.detail).toMatch(scenario.detail);
      const [minMs, maxMs] = scenario.heardMs ?? [0, MESSAGE_MS];
      expect(outcome?.heardMs).toBeGreaterThanOrEqual(minMs);
      expect(outcome?.heardMs).toBeLessThanOrEqual(maxMs);
      const farEndCall = farEnd.calls[0]!;
      if (scenario.end)
        await until(
          () => farEndCall.end,
          (end) => end === scenario.end,
          5_000,
          `the callee to see: ${scenario.end}`,
        );
      if (!scenario.hearsAll) return;
      const heardSound = { sampleRate: 8_000, samples: farEndCall.voice!.heardAudio().samples };
      const { from, to } = loudPart(heardSound, 500);
      if (scenario.callee.acts === undefined) {
        expect(Math.abs((to - from) / 8 - MESSAGE_MS)).toBeLessThanOrEqual(1);
        const message = { ...heardSound, samples: heardSound.samples.subarray(from, to) };
        expect(toneShare(message, HZ)).toBeGreaterThan(0.99);
        expect(phaseJump(message, HZ)).toBeLessThan(0.3);
      } else {
        const loudMs = heardSound.samples.filter((sample) => Math.abs(sample) > 500).length / 8;
        expect(Math.abs(loudMs / (MESSAGE_MS * 0.96) - 1)).toBeLessThan(0.02); // a sine is quiet where it crosses zero
      }
      expect(mediaStatistics?.packetsLost).toBe(0);
    });
});
