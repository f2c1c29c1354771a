import { afterEach, describe, expect, test, vi } from "vitest";
import { hostAddress } from "../../../../adapters/untrusted-hosts/host-address.ts";
import { HostLookup } from "../../../../adapters/untrusted-hosts/host-lookup.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import type { PlacedCall } from "../../../../src/testing/telephony-network.ts";
import type { FarEndCall, Script } from "../../../support/sip/far-end.ts";
import { readOffer, writeSdp } from "../../../support/sip/offer.ts";
import { field, type SipText } from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

afterEach(() => vi.restoreAllMocks());

/** Plays a second of 440 Hz to its end, and hangs up. */
async function playToEnd({ leg, playout }: PlacedCall): Promise<void> {
  playout.enqueue(tone(440, 1_000, leg.sampleRate, 8_000));
  playout.end();
  await playout.whenDrained;
  await leg.hangUp();
}

describe("an INVITE without an offer", () => {
  test("gets all our codecs after a hold, and the message continues", async () => {
    let resume: (() => Promise<SipText>) | undefined;
    const acts = async (call: FarEndCall): Promise<void> => {
      await call.reinvite("inactive");
      resume = () => call.request("INVITE");
    };
    const scene = await Scene.open({}, { callees: { "*": { acts, says: { hz: 1_000 } } } });
    const { leg, events, playout, recorder } = await scene.call(NUMBER);
    playout.enqueue(tone(440, 1_500, leg.sampleRate, 8_000));
    playout.end();
    const isNoted = (event: string) =>
      events.all.some((legEvent) => legEvent.type === "noted" && legEvent.fact.event === event);
    await scene.network.until(() => isNoted("held") && resume !== undefined, "the hold, on both sides");
    const { body } = await resume!();
    expect(readOffer(body)).toMatchObject({
      direction: "sendrecv",
      formats: [{ name: "PCMU" }, { name: "PCMA" }, { name: "telephone-event" }],
    });
    expect(/^o=- \d+ (\d+) /m.exec(body)?.[1]).toBe("3"); // the offer, the answer to the hold, this offer
    await scene.network.until(() => isNoted("resumed"), "the end of the hold");
    await playout.whenDrained;
    const frameCount = recorder.frames.length;
    await scene.network.until(() => recorder.frames.length >= frameCount + 25, "the remote voice");
    await leg.hangUp();
    const { heard } = scene.farEnd.calls[0]!;
    expect(heard.filter((sample) => Math.abs(sample) > 1_000).length).toBeGreaterThan(0.9 * 12_000 * 0.9);
    expect(toneShare(recorder.heard().subarray(-3_200), 1_000, 8_000)).toBeGreaterThan(0.9);
  });
});

test("a requested offer has new keys for another phone", async () => {
  const scene = await Scene.open({ srtp: "optional" }, { callees: { "*": { says: { hz: 1_000 } } } });
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  const peerCall = scene.farEnd.calls[0]!;
  const keysIn = ({ body }: SipText): string[] => body.match(/inline:\S+/g) ?? [];
  const [firstKeys, newKeys] = [keysIn(peerCall.requests[0]!.text), keysIn(await peerCall.request("INVITE"))];
  expect([firstKeys.length, newKeys.length]).toEqual([4, 4]);
  expect(newKeys.filter((key) => firstKeys.includes(key))).toEqual([]);
  await leg.hangUp();
});

describe("the SDP in a 200", () => {
  test("replaces that of a reliable 183", async () => {
    // It sends no audio, so only its SDP shows its address.
    const callee: Script = { rings: [183], reliable: true, announcement: { hz: 2_000 }, says: "nothing" };
    const scene = await Scene.open({}, { callees: { "*": callee } });
    await playToEnd(await scene.call(NUMBER));
    const peerCall = scene.farEnd.calls[0]!;
    expect(peerCall.count("PRACK")).toBe(1);
    expect(toneShare(peerCall.heard.subarray(0, 7_800), 440, 8_000)).toBeGreaterThan(0.9);
  });

  test.each([true, false])("is used alone if reliable provisional responses are %s", async (reliableProvisionals) => {
    const scene = await Scene.open({ reliableProvisionals }, { callees: { "*": {} } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    const supportedField = field(scene.farEnd.calls[0]!.requests[0]!.text, "Supported");
    expect(supportedField).toBe(reliableProvisionals ? "timer, 100rel" : "timer");
  });
});

describe("a host name for the remote audio", () => {
  test("is resolved in answers and new offers", async () => {
    const acts = async (call: FarEndCall): Promise<void> => void (await call.reinvite("sendrecv"));
    // It sends no audio, so only its SDP shows its address.
    const callee: Script = { host: "localhost", says: "nothing", acts };
    const scene = await Scene.open({}, { callees: { "*": callee } });
    await playToEnd(await scene.call(NUMBER));
    const { heard } = scene.farEnd.calls[0]!;
    expect(heard.filter((sample) => Math.abs(sample) > 1_000).length).toBeGreaterThan(0.9 * 8_000 * 0.9);
  });

  test("is named in the fault if it does not exist", async () => {
    const scene = await Scene.open({}, { callees: { "*": { host: "nowhere.invalid", earlyMedia: true } } });
    const { leg, events } = await scene.call(NUMBER);
    const { detail } = await events.next("media_lost", 5_000);
    expect(detail).toContain('"nowhere.invalid"');
    await leg.hangUp();
    await events.over;
    expect(events.types).toEqual(["placed", "alerting", "early_media", "answered", "media_lost", "ended"]);
  });

  /** A reliable SDP, followed by an UPDATE with a host name that `resolveHost` resolves. */
  const earlyUpdate = (
    resolveHost: () => Promise<readonly string[]>,
    afterUpdate: (call: FarEndCall) => Promise<unknown>,
  ): Script => {
    vi.spyOn(HostLookup.prototype, "addresses").mockImplementation(async () => (await resolveHost()).map(hostAddress));
    const sdp = writeSdp({
      ...{ version: 9, address: "127.0.0.1", port: 4000, formats: [[0, "PCMU/8000"]] },
      connection: "nowhere.invalid",
    });
    const sendUpdate = async (call: FarEndCall): Promise<void> => {
      await call.request("UPDATE", [["Content-Type", "application/sdp"]], sdp);
      await afterUpdate(call);
    };
    return { rings: [183], reliable: true, earlyMedia: true, before: sendUpdate };
  };

  test("may be followed by another one if it comes in an early UPDATE", async () => {
    const resolveHost = vi.fn(async () => []);
    const callee = earlyUpdate(resolveHost, async (call) => {
      await vi.waitFor(() => expect(resolveHost.mock.settledResults).toEqual([{ type: "fulfilled", value: [] }]));
      await call.reinvite("sendrecv", "UPDATE");
    });
    const scene = await Scene.open({ requireInboundAudio: false }, { callees: { "*": callee } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    await events.over;
    expect(events.types).toEqual(["placed", "early_media", "answered", "connected", "ended"]);
  });

  test("applies from an early UPDATE unless the answer has another one", async () => {
    let fail: (() => void) | undefined;
    const resolveHost = () =>
      new Promise<readonly string[]>((resolve) => {
        fail = () => resolve([]);
      });
    const scene = await Scene.open({}, { callees: { "*": earlyUpdate(resolveHost, async () => {}) } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    const voice = scene.farEnd.calls[0]!.voice!;
    const sentBefore = voice.packets.length;
    await scene.network.until(() => voice.packets.length > sentBefore + 5, "audio at the earlier address");
    expect(events.types).not.toContain("media_lost");
    fail!();
    await events.next("media_lost", 5_000);
    await leg.hangUp();
    await events.over;
    expect(events.types).toEqual(["placed", "early_media", "answered", "connected", "media_lost", "ended"]);
  });
});
