import { describe, expect, test } from "vitest";
import type { InviteEnd, InviteUsage } from "../../../adapters/telephony/sip/dialog/invite.ts";
import { SipLeg, type SipLegOptions } from "../../../adapters/telephony/sip/leg.ts";
import type { MediaSession, MediaStatistics } from "../../../adapters/telephony/sip/media/engine.ts";
import { releaseOf } from "../../../adapters/telephony/sip/outcome/release-of.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { LegEvents } from "../../../src/testing/telephony-host.ts";

const RELEASED: InviteEnd = { type: "released" };
const FRAME = new Int16Array(160);

/** A leg whose signalling and audio do only what a test lets them do. @param late its audio is reported at its close */
function legOf({ late = false, ...options }: Partial<SipLegOptions> & { readonly late?: boolean } = {}) {
  const system = new ManualSystem();
  const leg = new SipLeg({
    callId: "call",
    sampleRate: 8_000,
    system,
    evidenceRequired: true,
    releaseOf,
    takesTelephoneEvents: () => true,
    answered: () => {},
    again: () => undefined,
    gone: () => {},
    ...options,
  });
  const told = { hangUps: 0, started: 0, closed: 0, received: 0, digits: "", info: "" };
  let source: FrameSource | undefined;
  let sink: FrameSink | undefined;
  const media: MediaSession = {
    port: 20_000,
    connect(from, to) {
      [source, sink] = [from, to];
    },
    configure() {},
    start() {
      told.started++;
      if (!late) leg.mediaListener.sending();
    },
    async sendDigits(digits) {
      told.digits += digits;
    },
    evidence: () => ({ kind: "none", expected: true }),
    statistics: () => ({ packetsReceived: told.received }) as MediaStatistics,
    async close() {
      told.closed++;
      if (late) leg.mediaListener.sending();
    },
  };
  const usage: InviteUsage = {
    callId: "sip",
    async hangUp() {
      told.hangUps++;
    },
    async sendDigit(digit) {
      told.info += digit;
    },
  };
  leg.begin(usage, media);
  return {
    ...{ system, leg, told, usage, events: new LegEvents(leg) },
    pull: () => source?.read(FRAME),
    push: () => sink?.write(FRAME),
  };
}

describe("the story of a leg", () => {
  test("each thing is told once and in order, whatever the network repeats", async () => {
    const { leg, events, told, system } = legOf();
    leg.placed();
    leg.placed();
    leg.ringing();
    leg.earlyMedia();
    leg.ringing();
    leg.answered();
    leg.ringing(); // a proxy may let it arrive after the answer
    leg.earlyMedia();
    leg.ended({ type: "bye", reason: undefined });
    leg.ended(RELEASED);
    await system.settle();
    expect(events.types).toEqual(["placed", "alerting", "early_media", "answered", "connected", "ended"]);
    expect(events.cause).toBe("callee_hung_up");
    expect(told).toMatchObject({ started: 1, closed: 1 });
  });

  test("audio that another thread reports after the far side's BYE still connects before the end", async () => {
    const { leg, events, system } = legOf({ late: true });
    leg.answered();
    leg.ended({ type: "bye", reason: undefined });
    await system.settle();
    expect(events.types).toEqual(["answered", "connected", "ended"]);
  });

  test("the end comes when the audio has stopped, and hanging up resolves with it", async () => {
    const { leg, events, told, system } = legOf();
    leg.answered();
    const gone = Promise.all([leg.hangUp(), leg.hangUp()]);
    await system.settle();
    expect(told).toMatchObject({ hangUps: 1, closed: 1 });
    expect(events.types).not.toContain("ended");
    leg.ended(RELEASED);
    await gone;
    await leg.hangUp();
    expect(events.types.at(-1)).toBe("ended");
    expect(told.hangUps).toBe(1);
  });

  test("a source or a sink that throws ends the call as our own fault; neither is asked again after the end", async () => {
    for (const broken of ["source", "sink"] as const) {
      const { leg, events, told, system, pull, push } = legOf();
      let asked = 0;
      const act = (which: string): number => {
        asked++;
        if (which === broken) throw new Error("it is broken");
        return 0;
      };
      leg.connectMedia({ read: () => act("source") }, { write: () => void act("sink") });
      leg.answered();
      pull();
      push();
      expect(told.hangUps).toBe(1);
      leg.ended(RELEASED);
      const before = asked;
      expect(pull()).toBe(0);
      push();
      await system.settle();
      expect(asked).toBe(before);
      expect(events.all.at(-1)).toEqual({ type: "ended", cause: "internal_error", detail: "it is broken" });
    }
  });

  test("a call that is tried in another way goes on as the same call, unless it was hung up", async () => {
    const { leg, events, system, usage, told } = legOf({
      again: (end) => (end.type === "protocol" ? usage : undefined),
    });
    leg.placed();
    leg.ended({ type: "protocol", detail: "x" });
    await system.settle();
    expect(events.types).toEqual(["placed"]);
    void leg.hangUp();
    leg.ended({ type: "protocol", detail: "x" });
    await system.settle();
    expect(events.types).toEqual(["placed", "ended"]);
    expect(told.hangUps).toBe(1);
  });
});

describe("keys", () => {
  test("a far side that sends each key in both ways is heard once", async () => {
    const { leg, events, system } = legOf();
    leg.answered();
    leg.mediaListener.digit("1");
    leg.digit("1");
    leg.mediaListener.digit("1");
    leg.digit("1");
    await system.settle();
    expect(events.all.filter(({ type }) => type === "dtmf")).toHaveLength(2);
  });

  test("go the way that the far side understands", async () => {
    const byEvent = legOf();
    await byEvent.leg.sendDtmf("1#A");
    expect(byEvent.told).toMatchObject({ digits: "1#A", info: "" });
    const byInfo = legOf({ takesTelephoneEvents: () => false });
    await byInfo.leg.sendDtmf("1#a");
    expect(byInfo.told).toMatchObject({ digits: "", info: "1#A" });
    await expect(byInfo.leg.sendDtmf("1 2")).rejects.toBeInstanceOf(RangeError);
  });
});

test("there are no statistics before the answer, and there are after the end", async () => {
  const { leg, system } = legOf();
  expect(leg.statistics()).toBeNull();
  leg.answered();
  leg.ended(RELEASED);
  await system.settle();
  expect(leg.statistics()).toEqual({ packetsReceived: 0 });
});
