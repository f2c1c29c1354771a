import { describe, expect, test } from "vitest";
import type { InviteEnd, InviteUsage } from "../../../../adapters/sip-stack/dialog/invite.ts";
import type { MediaSession, MediaStatistics } from "../../../../adapters/sip-stack/media/engine.ts";
import { SipLeg, type SipLegOptions } from "../../../../adapters/telephony/sip/leg.ts";
import { sipRelease } from "../../../../adapters/telephony/sip/outcome/release-of.ts";
import type { FrameSink, FrameSource } from "../../../../src/ports/media.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { LegEvents } from "../../../../src/testing/telephony-host.ts";

const RELEASED: InviteEnd = { type: "released" };
const FRAME = new Int16Array(160);

/**
 * Creates a leg with scripted signalling and audio.
 * @param late true if the audio is reported only when the session closes
 */
function legOf({ late: isLate = false, ...options }: Partial<SipLegOptions> & { readonly late?: boolean } = {}) {
  const system = new ManualSystem();
  const leg = new SipLeg({
    callId: "call",
    sampleRate: 8_000,
    system,
    evidenceRequired: true,
    releaseOf: (end) => sipRelease(end),
    acceptsTelephoneEvents: () => true,
    onResponse: () => {},
    nextInvite: () => undefined,
    onEnded: () => {},
    ...options,
  });
  const counts = { hangUps: 0, started: 0, closed: 0, received: 0, digits: "", info: "" };
  let source: FrameSource | undefined;
  let sink: FrameSink | undefined;
  const media: MediaSession = {
    port: 20_000,
    codec: "PCMU",
    connect(from, to) {
      [source, sink] = [from, to];
    },
    configure() {},
    start() {
      counts.started++;
      if (!isLate) leg.mediaListener.sending();
    },
    async sendDigits(digits) {
      counts.digits += digits;
    },
    evidence: () => ({ kind: "none", fromOtherHost: false, expected: true }),
    statistics: () => ({ packetsReceived: counts.received }) as MediaStatistics,
    async close() {
      counts.closed++;
      if (isLate) leg.mediaListener.sending();
    },
  };
  const usage: InviteUsage = {
    callId: "sip",
    furthestStatus: undefined,
    probe: async () => undefined,
    refer: () => Promise.reject(new Error("no transfer")),
    async hangUp() {
      counts.hangUps++;
    },
    async sendDigit(digit) {
      counts.info += digit;
    },
  };
  leg.begin(usage, media);
  return {
    ...{ system, leg, counts, usage, events: new LegEvents(leg) },
    pull: () => source?.read(FRAME),
    push: () => sink?.write(FRAME),
  };
}

describe("a leg's events", () => {
  test("are emitted once and in order, despite repetitions", async () => {
    const { leg, events, counts, system } = legOf();
    leg.placed();
    leg.placed();
    leg.ringing();
    leg.earlyMedia();
    leg.ringing();
    leg.answered();
    leg.ringing(); // a proxy may forward it after the answer
    leg.earlyMedia();
    leg.ended({ type: "bye", reason: undefined });
    leg.ended(RELEASED);
    await system.settle();
    expect(events.types).toEqual(["placed", "alerting", "early_media", "answered", "connected", "ended"]);
    expect(events.cause).toBe("callee_hung_up");
    expect(counts).toMatchObject({ started: 1, closed: 1 });
  });

  test("audio reported after the peer's BYE connects the call before the end", async () => {
    const { leg, events, system } = legOf({ late: true });
    leg.answered();
    leg.ended({ type: "bye", reason: undefined });
    await system.settle();
    expect(events.types).toEqual(["answered", "connected", "ended"]);
  });

  test("end when the hang-up resolves, after the audio has closed", async () => {
    const { leg, events, counts, system } = legOf();
    leg.answered();
    const hangUps = Promise.all([leg.hangUp(), leg.hangUp()]);
    await system.settle();
    expect(counts).toMatchObject({ hangUps: 1, closed: 1 });
    expect(events.types).not.toContain("ended");
    leg.ended(RELEASED);
    await hangUps;
    await leg.hangUp();
    expect(events.types.at(-1)).toBe("ended");
    expect(counts.hangUps).toBe(1);
  });

  test("a throwing source or sink ends the call with internal_error", async () => {
    for (const brokenPart of ["source", "sink"] as const) {
      const { leg, events, counts, system, pull, push } = legOf();
      let pullCount = 0;
      const act = (step: string): number => {
        pullCount++;
        if (step === brokenPart) throw new Error("it is broken");
        return 0;
      };
      leg.connectMedia({ read: () => act("source") }, { write: () => void act("sink") });
      leg.answered();
      pull();
      push();
      expect(counts.hangUps).toBe(1);
      leg.ended(RELEASED);
      const countAtEnd = pullCount;
      expect(pull()).toBe(0);
      push();
      await system.settle();
      expect(pullCount).toBe(countAtEnd);
      expect(events.all.at(-1)).toEqual({ type: "ended", cause: "internal_error", detail: "it is broken" });
    }
  });

  test("a repeated INVITE belongs to the same call, unless hung up", async () => {
    const { leg, events, system, usage, counts } = legOf({
      nextInvite: (end) => (end.type === "protocol" ? usage : undefined),
    });
    leg.placed();
    leg.ended({ type: "protocol", detail: "x" });
    await system.settle();
    expect(events.types).toEqual(["placed"]);
    void leg.hangUp();
    leg.ended({ type: "protocol", detail: "x" });
    await system.settle();
    expect(events.types).toEqual(["placed", "ended"]);
    expect(counts.hangUps).toBe(1);
  });
});

describe("a leg's keys", () => {
  test("arrive once if a peer sends both forms", async () => {
    const { leg, events, system } = legOf();
    leg.answered();
    leg.mediaListener.digit("1");
    leg.digit("1");
    leg.mediaListener.digit("1");
    leg.digit("1");
    await system.settle();
    expect(events.all.filter(({ type }) => type === "dtmf")).toHaveLength(2);
  });

  test("are sent by the method that the peer accepts", async () => {
    const byEvent = legOf();
    await byEvent.leg.sendDtmf("1#A");
    expect(byEvent.counts).toMatchObject({ digits: "1#A", info: "" });
    const byInfo = legOf({ acceptsTelephoneEvents: () => false });
    await byInfo.leg.sendDtmf("1#a");
    expect(byInfo.counts).toMatchObject({ digits: "", info: "1#A" });
    await expect(byInfo.leg.sendDtmf("1 2")).rejects.toBeInstanceOf(RangeError);
  });
});

test("statistics are available once the call is answered, even after its end", async () => {
  const { leg, system } = legOf();
  expect(leg.statistics()).toBeNull();
  leg.answered();
  leg.ended(RELEASED);
  await system.settle();
  expect(leg.statistics()).toEqual({ packetsReceived: 0 });
});
