import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { createRingport, type Outcome } from "../../../../src/index.ts";
import { until } from "../../../sip-stack/media/two-ends.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { callees, type FarEndCall, type Script, startFarEnd } from "../../../support/sip/far-end.ts";
import type { Field } from "../../../support/sip/sip-text.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const NUMBER = "+12025550100";
const MESSAGE_MS = 1_000;
const MESSAGE = toneWav({ hz: 440, ms: MESSAGE_MS, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Ending extends Pick<Outcome, "reason" | "heardRatio" | "heardEvidence"> {
  readonly status: "COMPLETED" | "FAILED";
}

/** A phone, and the end of a call to it. */
type Case = readonly [title: string, phone: Script, ending: Ending, trunk?: Partial<Trunk>];

const mediaFailed: Ending = { status: "FAILED", reason: "media_failed", heardRatio: null, heardEvidence: "none" };
const withoutEvidence: Ending = {
  status: "COMPLETED",
  reason: "message_played",
  heardRatio: null,
  heardEvidence: "none",
};
const heardBy = (heardEvidence: "inbound" | "rtcp"): Ending => ({
  ...{ status: "COMPLETED", reason: "message_played", heardRatio: 1, heardEvidence },
});
const sendReport = (call: FarEndCall): void => call.voice!.report();

const calleeHungUp: Ending = { ...withoutEvidence, reason: "callee_hung_up" };
const NORMAL_CLEARING: Field = ["Reason", 'Q.850;cause=16;text="Normal Clearing"'];
const TIMEOUT: Field = ["Reason", 'SIP;cause=408;text="RTP Timeout"'];

/** Hangs up in the middle of the message. */
const hangUpEarly = async (call: FarEndCall, ...fields: Field[]): Promise<void> => {
  await until(() => call.voice!.packets.length > 20, "a part of the message");
  await call.hangUp(fields);
};

const EARLY_MEDIA: Script = { rings: [183], earlyMedia: true, afterMs: 500 };

/** Reports, after receiving the first audio, that all of it was lost. */
const reportLoss =
  (highest: (call: FarEndCall) => number) =>
  async (call: FarEndCall): Promise<void> => {
    await until(() => call.voice!.packets.length > 10, "our first packets");
    call.voice!.reportLoss(highest(call));
  };

const CASES: readonly Case[] = [
  ["that speaks", { says: { hz: 1_000 } }, heardBy("inbound")],
  ["that sends comfort noise", { says: "comfort noise" }, heardBy("inbound")],
  ["that sends RTCP only", { ...callees.silent, acts: sendReport }, heardBy("rtcp")],
  ["that sends nothing", callees.silent, mediaFailed],
  ["whose RTP port is closed", { ...callees.silent, acts: (call) => call.voice!.close() }, mediaFailed],
  ["that reports that nothing arrives", { ...callees.silent, acts: reportLoss(() => 0) }, mediaFailed],
  [
    "that reports loss, but names one of our packets",
    { ...callees.silent, acts: reportLoss((call) => call.voice!.packets.at(-1)!.sequence & 0xffff) },
    heardBy("rtcp"),
  ],
  ["that sends nothing and hangs up", { ...callees.silent, acts: (call) => hangUpEarly(call) }, calleeHungUp],
  [
    "that sends nothing and hangs up normally",
    { ...callees.silent, acts: (call) => hangUpEarly(call, NORMAL_CLEARING) },
    calleeHungUp,
  ],
  [
    "that hangs up because it received nothing",
    { ...callees.silent, acts: (call) => hangUpEarly(call, TIMEOUT) },
    mediaFailed,
  ],
  ["that speaks from another host", { says: { hz: 1_000 }, sendFrom: "127.0.0.2", host: "127.0.0.3" }, mediaFailed],
  ["that is silent after its early media", { ...EARLY_MEDIA, says: { hz: 440 }, fallsSilent: true }, mediaFailed],
  ["that is silent after an announcement", { ...EARLY_MEDIA, says: "nothing", announcement: { hz: 440 } }, mediaFailed],
  ["that speaks before and after the answer", { ...EARLY_MEDIA, says: { hz: 1_000 } }, heardBy("inbound")],
  ["that sends nothing, if none is required", callees.silent, withoutEvidence, { requireInboundAudio: false }],
  ["whose answer was recvonly", { onlyListens: true }, withoutEvidence],
  ["whose answer was recvonly, and that sends RTCP", { onlyListens: true, acts: sendReport }, heardBy("rtcp")],
];

describe.each(["thread", "worker"] as const)("with the audio in a %s, a call to a phone", (media) => {
  test("has the outcome that its evidence implies", async () => {
    const trunks: Trunk[] = [];
    const farEnds = await Promise.all(
      CASES.map(async ([, phone, , trunk], i) => {
        const farEnd = await startFarEnd({ callees: { "*": phone } });
        closers.push(() => farEnd.close());
        trunks[i] = { name: `phone-${i}`, server: farEnd.uri, users: "*", ...trunk };
        return farEnd;
      }),
    );
    const data = temporaryFolder("evidence");
    const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
    const ringport = createRingport({ data, storage, telephony: sip({ trunks, media }), mediaTimeoutMs: 1_500 });
    closers.push(() => ringport.stop({ drainMs: 0 }));
    const calls = await Promise.all(
      CASES.map(async (_, i) => {
        const { id } = await ringport.instances.create(ADA, { name: `Line ${i}`, provider: `sip/phone-${i}` });
        const target = { phoneNumber: NUMBER };
        const audio = { audioBase64: MESSAGE };
        const call = await ringport.calls.create(ADA, { instanceId: id, type: "FIXED_AUDIO", target, audio });
        return await ringport.calls.wait(ADA, call.id);
      }),
    );
    const endings = calls.map(({ status, outcome }) => {
      const { reason, heardRatio, heardEvidence } = outcome!;
      return { status, reason, heardRatio, heardEvidence };
    });
    expect(Object.fromEntries(endings.map((ending, i) => [CASES[i]![0], ending]))).toEqual(
      Object.fromEntries(CASES.map(([title, , ending]) => [title, ending])),
    );
    const detailOf = (phone: string): string | null =>
      calls[CASES.findIndex(([title]) => title === phone)]!.outcome!.detail;
    expect(detailOf("that sends nothing")).toMatch(/^neither audio nor RTCP came from the peer.*"requireInboundAudio"/);
    expect(detailOf("that speaks from another host")).toMatch(/^audio came neither from the host in the peer's SDP/);
    // Audio that counts as heard was received.
    for (const [i, farEnd] of farEnds.entries()) {
      if (CASES[i]![2].heardRatio !== 1) continue;
      const loudCount = farEnd.calls[0]!.heard.filter((sample) => Math.abs(sample) > 1_000).length;
      expect(loudCount, CASES[i]![0]).toBeGreaterThan(0.9 * 8 * MESSAGE_MS * 0.9); // a sine is this loud for nine tenths of the time
    }
  });

  test("ends with the first RTCP after the message", async () => {
    const acts = async ({ voice }: FarEndCall): Promise<void> => {
      await until(() => voice!.packets.length > (MESSAGE_MS + 500) / 20, "our message and the silence after it");
      voice!.report();
    };
    const farEnd = await startFarEnd({ callees: { "*": { ...callees.silent, acts } } });
    closers.push(() => farEnd.close());
    const data = temporaryFolder("evidence");
    const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
    const trunks: Trunk[] = [{ name: "phone", server: farEnd.uri, users: "*" }];
    const ringport = createRingport({ data, storage, telephony: sip({ trunks, media }), mediaTimeoutMs: 15_000 });
    closers.push(() => ringport.stop({ drainMs: 0 }));
    const { id } = await ringport.instances.create(ADA, { name: "Line", provider: "sip/phone" });
    const [target, audio] = [{ phoneNumber: NUMBER }, { audioBase64: MESSAGE }];
    const { id: callId } = await ringport.calls.create(ADA, { instanceId: id, type: "FIXED_AUDIO", target, audio });
    const { status, outcome } = await ringport.calls.wait(ADA, callId);
    expect([status, outcome!.heardEvidence]).toEqual(["COMPLETED", "rtcp"]);
    expect(outcome!.durationMs).toBeLessThan(8_000);
  });
});
