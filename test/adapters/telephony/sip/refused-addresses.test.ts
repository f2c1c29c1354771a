import { createSocket, type Socket } from "node:dgram";
import { afterEach, describe, expect, test } from "vitest";
import { MediaTarget } from "../../../../adapters/sip-stack/media/media-target.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { settingsTo } from "../../../sip-stack/media/two-ends.ts";
import { callees, type FarEndCall, type Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const FOREIGN_HOST = "127.0.0.3";
const FAR_END_ONLY = { mediaFrom: ["127.0.0.1/32"] };
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A foreign host that listens on the peer's port at another address, and the datagrams that it receives. */
async function foreignHost(port: number) {
  const socket: Socket = createSocket("udp4");
  const datagrams: Buffer[] = [];
  socket.on("message", (datagram) => datagrams.push(datagram));
  await new Promise<void>((resolve) => socket.bind(port, FOREIGN_HOST, resolve));
  closers.push(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { port: socket.address().port, datagrams };
}

/** A call to a callee whose SDP names the foreign host, which listens before the answer. */
async function callTo(callee: Script, mediaFrom: readonly string[] | undefined) {
  let datagrams: Buffer[] = [];
  const listenBeforeAnswer = async (call: FarEndCall) => {
    ({ datagrams } = await foreignHost(call.voice!.port));
  };
  const scene = await Scene.open(
    { mediaFrom },
    { callees: { "*": { ...callee, host: FOREIGN_HOST, before: listenBeforeAnswer } } },
  );
  const call = await scene.call(NUMBER);
  return { scene, ...call, received: () => datagrams };
}

/** Plays a second of a tone, hangs up, and returns the number of loud samples at the callee. */
async function countLoudSamples(
  scene: Scene,
  { leg, events, playout }: Awaited<ReturnType<Scene["call"]>>,
): Promise<number> {
  playout.enqueue(tone(440, 1_000, leg.sampleRate, 8_000));
  playout.silence(100);
  playout.end();
  await playout.whenDrained;
  await leg.hangUp();
  await events.over;
  return scene.farEnd.calls[0]!.heard.filter((sample) => Math.abs(sample) > 1_000).length;
}

const refusals = (call: Awaited<ReturnType<typeof callTo>>) =>
  call.events.all.flatMap((event) =>
    event.type === "noted" && event.fact.event === "media.address_refused"
      ? [[event.fact.event, event.fact.data.address]]
      : [],
  );

describe("an SDP address outside mediaFrom", () => {
  test("gets no audio; it goes to the source of the remote audio", async () => {
    const call = await callTo({ says: { hz: 1_000 } }, FAR_END_ONLY.mediaFrom);
    const { leg, events, scene } = call;
    const loudCount = await countLoudSamples(scene, call);
    expect(call.received()).toEqual([]);
    expect(refusals(call)).toEqual([["media.address_refused", FOREIGN_HOST]]);
    expect(events.types.slice(0, 4)).toEqual(["placed", "alerting", "noted", "answered"]);
    expect(events.types).toContain("connected");
    expect(loudCount).toBeGreaterThan(0.9 * 8 * 1_000 * 0.9); // a sine is this loud for nine tenths of the time
    expect(leg.statistics?.()?.heldMs).toBe(0);
  });

  test("ends the call if no audio comes from elsewhere, naming address and option", async () => {
    const call = await callTo(callees.silent, FAR_END_ONLY.mediaFrom);
    const { detail } = await call.events.next("media_lost", 8_000);
    expect(detail).toContain(`names ${FOREIGN_HOST} for its audio: ${FOREIGN_HOST} is not in \`mediaFrom\``);
    expect(call.events.types).not.toContain("connected");
    await call.leg.hangUp();
    expect(call.received()).toEqual([]);
  });

  test("is allowed without mediaFrom on private servers", async () => {
    const call = await callTo(callees.silent, undefined);
    await call.scene.network.until(() => call.received().length > 3, "audio at the address of the SDP");
    expect(refusals(call)).toEqual([]);
    await call.leg.hangUp();
  });
});

test.each(["thread", "worker"] as const)("a source outside mediaFrom is ignored in a %s", async (media) => {
  const callee = { says: { hz: 1_000 }, sendFrom: FOREIGN_HOST };
  const scene = await Scene.open(FAR_END_ONLY, { callees: { "*": callee } }, media);
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  const farVoice = scene.farEnd.calls[0]!.voice!;
  await scene.network.until(
    () => farVoice.packets.length > 30 && (leg.statistics?.()?.packetsInvalid ?? 0) > 20,
    "audio",
  );
  await leg.hangUp();
  expect(leg.statistics?.()?.packetsReceived).toBe(0);
  expect(leg.evidence?.().kind).toBe("none");
});

describe("a trunk whose server has a public address", () => {
  const settle = (remote: string, rtcp = remote) => {
    const reasons: (string | undefined)[] = [];
    const configurations: { remote: string; rtcp: string }[] = [];
    const target = new MediaTarget({
      session: {
        configure: ({ remote, remoteRtcp }) =>
          configurations.push({ remote: remote.address, rtcp: remoteRtcp.address }),
      },
      local: "198.51.100.7",
      from: { isPublic: true },
      dns: { addresses: async () => [] },
      onAddressChecked: (refusal) => reasons.push(refusal),
      onNoAddress: () => {},
    });
    const port = 4_000;
    const mediaAddresses = { remote: { address: remote, port }, remoteRtcp: { address: rtcp, port: port + 1 } };
    target.apply(settingsTo(port, { ...mediaAddresses, rtcpMux: false }), false);
    return { ...configurations[0], refusal: reasons[0] };
  };

  test.each([
    ...["10.1.2.3", "192.168.0.9", "127.0.0.1", "169.254.169.254", "100.64.0.1", "192.0.0.4", "198.18.0.1"],
    ...["224.0.0.5", "fe80::1", "::1"],
  ])("sends no packet to %s", (address) => {
    expect(settle(address)).toEqual({
      remote: "0.0.0.0",
      rtcp: "0.0.0.0",
      refusal: expect.stringContaining(`names ${address} for its audio`),
    });
  });

  test("sends to a public address, but no RTCP to a private one", () => {
    expect(settle("203.0.113.9")).toEqual({ remote: "203.0.113.9", rtcp: "203.0.113.9", refusal: undefined });
    expect(settle("203.0.113.9", "10.0.0.1")).toMatchObject({ remote: "203.0.113.9", rtcp: "0.0.0.0" });
  });
});

// A phone in a network without IPv4 (464XLAT, RFC 7335), and one on a machine with a VPN.
test.each(["192.0.0.4", "198.18.0.1"])("a callee whose SDP names %s hears the call", async (host) => {
  const callee = { says: { hz: 1_000 }, mediaAt: FOREIGN_HOST, host };
  const scene = await Scene.open({}, { callees: { "*": callee } });
  const call = await scene.call(NUMBER);
  await call.events.next("connected", 5_000);
  const loudCount = await countLoudSamples(scene, call);
  expect(loudCount).toBeGreaterThan(0.8 * 8 * 1_000 * 0.9);
});

test.each([
  ["outside signallingFrom is ignored: ACK and BYE take the INVITE's path", ["127.0.0.1"], false],
  ["within signallingFrom is followed", ["127.0.0.0/24"], true],
] as const)("a Record-Route %s", async (_, signallingFrom, isFollowed) => {
  const { port, datagrams } = await foreignHost(0);
  const fields = [["Record-Route", `<sip:${FOREIGN_HOST}:${port};lr>`]] as const;
  const scene = await Scene.open({ signallingFrom }, { callees: { "*": { fields } } });
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  void leg.hangUp();
  const methods = () => (isFollowed ? datagrams.map(String) : scene.farEnd.requests.map(({ start }) => start));
  for (const method of ["ACK", "BYE"])
    await scene.network.until(() => methods().some((text) => text.startsWith(method)), `the ${method}`);
  if (!isFollowed) expect(datagrams).toEqual([]);
});
