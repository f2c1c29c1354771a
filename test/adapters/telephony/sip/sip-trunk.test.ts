import { describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { DialError, type LegEvent } from "../../../../src/ports/telephony.ts";
import { callees, type FarEndCall } from "../../../support/sip/far-end.ts";
import { field, fieldsNamed } from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const ANSWERS = { "*": callees.answers };
const NUMBER = "+12025550100";

async function refusalOf(dialling: Promise<unknown>): Promise<DialError> {
  const fault = await dialling.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (fault instanceof DialError) return fault;
  throw new Error(`not refused: ${String(fault)}`);
}

describe("a trunk's requests", () => {
  test("have independent From, caller, account and fields", async () => {
    const scene = await Scene.open(
      {
        domain: "example.com",
        user: "100",
        authUser: "auth100",
        password: "secret",
        from: "+15550001111",
        callerId: "+15550002222",
        headers: { "X-Account": "42" },
      },
      { callees: { "*": callees.challenges({ user: "auth100", password: "secret", status: 407 }) } },
    );
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    const invite = scene.farEnd.requests.findLast(({ start }) => start.startsWith("INVITE"))!;
    expect(invite.start).toBe(`INVITE sip:${NUMBER}@example.com SIP/2.0`);
    expect(field(invite, "To")).toBe(`<sip:${NUMBER}@example.com>`);
    expect(field(invite, "From")).toMatch(/^<sip:\+15550001111@example\.com>;tag=/);
    expect(field(invite, "Contact")).toMatch(/^<sip:100@127\.0\.0\.1:\d+>$/);
    expect(field(invite, "P-Asserted-Identity")).toBe("<sip:+15550002222@example.com>");
    expect(field(invite, "P-Preferred-Identity")).toBe("<sip:+15550002222@example.com>");
    expect(field(invite, "X-Account")).toBe("42");
    expect(field(invite, "Proxy-Authorization")).toContain('username="auth100"');
    await leg.hangUp();
  });

  test("write the number in the trunk's format", async () => {
    const scene = await Scene.open({ numberFormat: "0{national:49}" }, { callees: ANSWERS });
    const { leg, events } = await scene.call("+49301234567");
    await events.next("connected", 5_000);
    expect(scene.farEnd.calls[0]?.user).toBe("0301234567");
    await leg.hangUp();
    const dialError = await refusalOf(scene.call("+12025550100"));
    expect(dialError.release).toBe("number_invalid");
    expect(dialError.message).toContain("+12025550100");
  });

  test("work over IPv6", async () => {
    const scene = await Scene.open({}, { address: "::1", callees: { "*": { says: { hz: 1000 } } } });
    const { leg, events, recorder } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await scene.network.until(() => recorder.frames.length >= 40, "its audio");
    await leg.hangUp();
    expect(toneShare(recorder.heard().subarray(1_600, 4_800), 1000, 8_000)).toBeGreaterThan(0.9);
    expect(scene.farEnd.calls[0]!.requests[0]!.text.body).toMatch(/^c=IN IP6 ::1\r$/m);
    expect(scene.farEnd.calls[0]!.heard.length).toBeGreaterThan(4_000);
  });

  test("follow a redirection only with followRedirects", async () => {
    const target = await Scene.open({}, { callees: ANSWERS });
    const redirectingCallees = { "*": callees.redirects(`sip:${NUMBER}@127.0.0.1:${target.farEnd.port}`) };
    const followingScene = await Scene.open({ followRedirects: true }, { callees: redirectingCallees });
    const { leg, events } = await followingScene.call(NUMBER);
    await events.next("connected", 5_000);
    expect(target.farEnd.calls).toHaveLength(1);
    await leg.hangUp();
    const plainScene = await Scene.open({}, { callees: redirectingCallees });
    expect(await plainScene.endOf(NUMBER)).toEqual([
      "rejected_by_network",
      expect.stringMatching(/^SIP 302 Moved Temporarily: .*`followRedirects`/),
    ]);
  });

  test("all go to the outbound proxy", async () => {
    const scene = await Scene.open({}, { callees: ANSWERS });
    const proxiedScene = await Scene.open(
      { server: "sip:nowhere.invalid", outboundProxy: `${scene.farEnd.uri};lr`, rtpPorts: [20_000, 21_000] },
      {},
    );
    const { leg, events } = await proxiedScene.call(NUMBER);
    await events.next("connected", 5_000);
    const invite = scene.farEnd.requests.findLast(({ start }) => start.startsWith("INVITE"))!;
    expect(invite.start).toContain("@nowhere.invalid ");
    expect(fieldsNamed(invite, "Route").map(([, value]) => value)).toEqual([`<${scene.farEnd.uri};lr>`]);
    await leg.hangUp();
  });
});

describe("optional encryption", () => {
  test("is offered as RTP/AVP first, then as RTP/SAVP", async () => {
    const refusingCallee = { rings: [], status: 488, reason: "Not Acceptable Here" };
    const scene = await Scene.open(
      { srtp: "optional" },
      { callees: { "+12025550101": refusingCallee, "*": callees.answers } },
    );
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    const [cause] = await scene.endOf("+12025550101");
    expect(cause).toBe("rejected_by_network");
    const profiles = scene.farEnd.calls.map((call) => /^m=audio \d+ (\S+)/m.exec(call.requests[0]!.text.body)?.[1]);
    expect(profiles).toEqual(["RTP/AVP", "RTP/AVP", "RTP/SAVP", "RTP/SAVPF"]);
    expect(scene.farEnd.calls[0]!.requests[0]!.text.body).toMatch(/^a=crypto:/m);
  });

  test.each([180, 181, 182, 183])("is not offered again after %i", async (status) => {
    const callee = { rings: [status], status: 488, reason: "Not Acceptable Here" };
    const scene = await Scene.open({ srtp: "optional" }, { callees: { "*": callee } });
    const [cause] = await scene.endOf(NUMBER);
    expect(cause).toBe("rejected_by_network");
    expect(scene.farEnd.calls).toHaveLength(1);
  });
});

describe("a trunk's limits", () => {
  test("make a call over maxCalls wait its turn", async () => {
    const scene = await Scene.open({ maxCalls: 1 }, { callees: ANSWERS });
    const first = await scene.call(NUMBER);
    await first.events.next("connected", 5_000);
    const dialError = await refusalOf(scene.call(NUMBER));
    expect(dialError).toMatchObject({ release: "line_lost", retryAfterMs: 1_000 });
    await first.leg.hangUp();
    const second = await scene.call(NUMBER);
    await second.events.next("connected", 5_000);
    await second.leg.hangUp();
  });

  test("apply calls per second across instances", async () => {
    const scene = await Scene.open({ callsPerSecond: 10 }, { callees: { "*": callees.busy } });
    const line = await scene.line();
    await Promise.all(Array.from({ length: 5 }, () => scene.network.call(line, NUMBER)));
    await scene.network.until(() => scene.farEnd.calls.length === 5, "five calls");
    const invitedAt = scene.farEnd.calls.map((call) => call.requests[0]!.at);
    expect(invitedAt[4]! - invitedAt[0]!).toBeGreaterThanOrEqual(250);
  });

  test("allow no call during a Retry-After", async () => {
    const scene = await Scene.open(
      {},
      { callees: { "*": { rings: [], status: 503, reason: "Overloaded", fields: [["Retry-After", "30"]] } } },
    );
    expect(await scene.endOf(NUMBER)).toEqual([
      "unreachable",
      "SIP 503 Overloaded: the trunk is overloaded or out of order",
    ]);
    const dialError = await refusalOf(scene.call(NUMBER));
    expect(dialError.release).toBe("line_lost");
    expect(dialError.retryAfterMs).toBeGreaterThan(28_000);
    expect(scene.farEnd.calls).toHaveLength(1);
  });
});

describe("a trunk's presence", () => {
  test("is offline after a 503 to OPTIONS, and online after any other response", async () => {
    const scene = await Scene.open();
    scene.farEnd.health = 503;
    expect(await scene.health()).toMatchObject({ state: "offline", reason: expect.stringContaining("SIP 503") });
    scene.farEnd.health = 404;
    await scene.line();
  });

  test("keeps a registration and removes it when closing", async () => {
    const scene = await Scene.open(
      { register: true, user: "100", password: "secret" },
      { callees: ANSWERS, registrar: { challenge: { user: "100", password: "secret", algorithms: ["SHA-256"] } } },
    );
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    expect(scene.farEnd.registrations.map(({ expires }) => expires)).toEqual([300]);
    await scene.network.subject.telephony.close();
    expect(scene.farEnd.registrations.map(({ expires }) => expires)).toEqual([300, 0]);
  });

  test("sends one REGISTER if the password is refused", async () => {
    const scene = await Scene.open(
      { register: true, user: "100", password: "wrong" },
      { registrar: { challenge: { user: "100", password: "secret" } } },
    );
    expect(await scene.health()).toMatchObject({ state: "offline", reason: expect.stringMatching(/refuse.*password/) });
    await scene.network.sleep(300);
    expect(scene.farEnd.requests).toHaveLength(2); // the request that is challenged, and the one with credentials
  });

  test("is online without probes until calls fail", async () => {
    const scene = await Scene.open({ probe: "none", server: "sip:127.0.0.1:1;transport=tcp" });
    expect(await scene.health()).toEqual({ state: "online" });
    const [cause, detail] = await scene.endOf(NUMBER);
    expect(cause).toBe("unreachable");
    expect(await (await scene.line()).probe()).toEqual({ state: "offline", reason: detail });
  });

  test("stays online if only a redirection fails", async () => {
    const redirectingCallees = { "*": callees.redirects(`sip:${NUMBER}@127.0.0.1:1;transport=tcp`) };
    const scene = await Scene.open({ probe: "none", followRedirects: true }, { callees: redirectingCallees });
    expect((await scene.endOf(NUMBER))[0]).toBe("unreachable");
    expect(await scene.health()).toEqual({ state: "online" });
  });
});

describe("a call in progress", () => {
  test("sends keys by telephone-event, else by INFO", async () => {
    const scene = await Scene.open({}, { callees: { "+12025550101": { noEvents: true }, "*": callees.answers } });
    for (const [number, method] of [
      [NUMBER, "voice"],
      ["+12025550101", "info"],
    ] as const) {
      const { leg, events } = await scene.call(number);
      await events.next("connected", 5_000);
      await leg.sendDtmf?.("12#");
      const peerCall = scene.farEnd.calls.at(-1)!;
      await scene.network.until(() => peerCall.keys.length >= 3, "the keys");
      expect([peerCall.voice?.keys, peerCall.infoKeys]).toEqual(method === "voice" ? ["12#", ""] : ["", "12#"]);
      await expect(leg.sendDtmf?.("1x")).rejects.toBeInstanceOf(RangeError);
      await leg.hangUp();
    }
  });

  test("pauses its source on hold, then resumes", async () => {
    const scene = await Scene.open({}, { callees: { "*": callees.holds(300, 600) } });
    const { leg, events, playout } = await scene.call(NUMBER);
    playout.enqueue(tone(440, 2_000, leg.sampleRate, 8_000));
    playout.end();
    const isNoted = (event: string) => () =>
      events.all.some((legEvent: LegEvent) => legEvent.type === "noted" && legEvent.fact.event === event);
    await scene.network.until(isNoted("held"), "the hold");
    await scene.network.sleep(100);
    const { heardMs } = playout;
    await scene.network.sleep(300);
    expect(playout.heardMs).toBe(heardMs);
    await scene.network.until(isNoted("resumed"), "the end of the hold");
    await playout.whenDrained;
    await leg.hangUp();
    const heard = scene.farEnd.calls[0]!.heard;
    const loudSamples = heard.filter((sample) => Math.abs(sample) > 1_000).length;
    expect(loudSamples).toBeGreaterThan(0.9 * 16_000 * 0.9); // 2 s of a sine are this loud for nine tenths of the time
    expect(toneShare(heard.subarray(0, 1_600), 440, 8_000)).toBeGreaterThan(0.9);
    expect(leg.statistics?.()?.heldMs).toBeGreaterThan(400);
  });

  test("is hung up after holdTimeoutMs on hold", async () => {
    const scene = await Scene.open({ holdTimeoutMs: 1_000 }, { callees: { "*": callees.holds(100, 60_000) } });
    const { events } = await scene.call(NUMBER);
    const { cause, detail } = await events.next("ended", 5_000);
    expect([cause, detail]).toEqual(["media_failed", expect.stringMatching(/h[eo]ld/)]);
    expect(scene.farEnd.calls[0]?.end).toBe("caller hung up");
  });

  test.each(["sendonly", "inactive", "zeros"] as const)(
    "plays everything later if it is answered on hold (%s)",
    async (onHold) => {
      let endHold = () => {};
      const acts = (call: FarEndCall) =>
        new Promise<void>((resolve) => {
          endHold = () => void call.reinvite("sendrecv").then(() => resolve());
        });
      const scene = await Scene.open({}, { callees: { "*": { onHold, acts } } });
      const { leg, events, playout } = await scene.call(NUMBER);
      playout.enqueue(tone(440, 1_000, leg.sampleRate, 8_000));
      playout.end();
      await events.next("connected", 5_000);
      await scene.network.until(() => (leg.statistics?.()?.heldMs ?? 0) >= 300, "300 ms of hold");
      expect(playout.heardMs).toBe(0);
      expect(scene.farEnd.calls[0]!.heard).toHaveLength(0);
      endHold();
      await playout.whenDrained;
      await leg.hangUp();
      await events.over;
      expect(events.types).toEqual(["placed", "alerting", "answered", "connected", "noted", "noted", "ended"]);
      const heard = scene.farEnd.calls[0]!.heard;
      expect(toneShare(heard.subarray(0, 7_800), 440, 8_000)).toBeGreaterThan(0.9);
      expect(heard.filter((sample) => Math.abs(sample) > 1_000).length).toBeGreaterThan(0.9 * 8_000 * 0.9);
    },
  );

  test.each(["127.0.0.1", "::1"])("is hung up after the limit if answered on hold, at %s", async (address) => {
    const scene = await Scene.open({ holdTimeoutMs: 1_000 }, { address, callees: { "*": { onHold: "zeros" } } });
    const { events, playout } = await scene.call(NUMBER);
    playout.enqueue(tone(440, 1_000, 8_000, 8_000));
    const { cause, detail } = await events.next("ended", 5_000);
    expect([cause, detail]).toEqual(["media_failed", expect.stringMatching(/held/)]);
    expect(events.types).toContain("connected");
    expect(playout.heardMs).toBe(0);
    expect(scene.farEnd.calls[0]?.end).toBe("caller hung up");
  });

  test("reports lost media once after mediaLossMs", async () => {
    const scene = await Scene.open({ mediaLossMs: 1_000 }, { callees: { "*": { options: 481 } } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await scene.network.sleep(300);
    scene.farEnd.calls[0]!.voice!.close();
    const closedAt = performance.now();
    await events.next("media_lost", 3_000);
    expect(performance.now() - closedAt).toBeGreaterThan(800);
    await scene.network.sleep(1_500);
    expect(events.types.filter((type) => type === "media_lost")).toHaveLength(1);
    await leg.hangUp();
  });

  test("is traced in the timeline without credentials", async () => {
    const scene = await Scene.open(
      { trace: true, user: "100", password: "secret" },
      { callees: { "*": callees.challenges({ user: "100", password: "secret" }) } },
    );
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    await events.over;
    const texts = events.all.flatMap((event) =>
      event.type === "noted" && event.fact.event === "signalling"
        ? [`${event.fact.data.direction} ${event.fact.data.message}`]
        : [],
    );
    const firstLines = texts.map((text) => text.split("\n")[0]!.replace(/sip:\S+/, "…"));
    expect(firstLines).toEqual([
      "sent INVITE … SIP/2.0",
      "received SIP/2.0 401 Who Are You",
      expect.stringMatching(/^sent (ACK|INVITE)/),
      ...firstLines.slice(3),
    ]);
    expect(firstLines.some((line) => line.startsWith("sent BYE"))).toBe(true);
    const digest = /response="([^"]*)"/.exec(field(scene.farEnd.calls[0]!.requests.at(-1)!.text, "Authorization"))?.[1];
    expect(texts.join()).not.toContain(digest ?? "no digest");
  });

  test("reports early media, which is not an answer", async () => {
    const scene = await Scene.open({}, { callees: { "*": { rings: [183], earlyMedia: true, status: "never" } } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("early_media", 5_000);
    expect(events.types).not.toContain("answered");
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
    expect(scene.farEnd.calls[0]?.end).toBe("cancelled");
  });
});
