import { createSocket } from "node:dgram";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { writeRtcp } from "../../../../adapters/sip-stack/media/rtcp.ts";
import { writeRtpHeader } from "../../../../adapters/sip-stack/media/rtp-packet.ts";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { encodeMulaw } from "../../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { createRingport, type Outcome } from "../../../../src/index.ts";
import { until } from "../../../sip-stack/media/two-ends.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { callees, type FarEndCall, type Script, startFarEnd } from "../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const MESSAGE_MS = 2_000;
const MESSAGE = toneWav({ hz: 440, ms: MESSAGE_MS, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
/** RTP ports of the trunk; the foreign host sprays all of them. */
const PORTS = [18_200, 18_231] as const;
const FOREIGN_HOST = "127.0.0.9";
const FOREIGN_HZ = 1_633;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * Starts a foreign host that sprays the ports every 10 ms with numbered audio, keys and RTCP, and counts the packets
 * that it receives.
 */
async function startSpraying(): Promise<{ sentPackets: number; receivedPackets: number; start(): void }> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, FOREIGN_HOST, resolve));
  const report = new Uint8Array(200);
  const length = writeRtcp(report, { ssrc: 66, cname: "abc", sender: undefined, block: undefined, goodbye: false });
  const voice = encodeMulaw(tone(FOREIGN_HZ, 20, 8_000, 10_000));
  const key = Uint8Array.of(9, 0x8a, 3, 0x20);
  const spray = (): void => {
    const sequence = sprayer.sentPackets++;
    const isKey = sequence % 25 === 24;
    const payload = isKey ? key : voice;
    const packet = new Uint8Array(12 + payload.length);
    writeRtpHeader(packet, isKey ? 101 : 0, false, sequence & 0xffff, sequence * 160, 66);
    packet.set(payload, 12);
    for (let port: number = PORTS[0]; port <= PORTS[1]; port++) {
      socket.send(packet, port, "127.0.0.1", () => {});
      if (sequence % 10 === 0) socket.send(report.subarray(0, length), port, "127.0.0.1", () => {});
    }
  };
  let timer: ReturnType<typeof setInterval> | undefined;
  const sprayer = {
    sentPackets: 0,
    receivedPackets: 0,
    start() {
      timer ??= setInterval(spray, 10);
    },
  };
  socket.on("message", () => sprayer.receivedPackets++);
  closers.push(() => {
    clearInterval(timer);
    socket.close();
  });
  return sprayer;
}

interface Result {
  readonly outcome: Outcome;
  readonly callee: FarEndCall;
  readonly sprayer: { readonly sentPackets: number; readonly receivedPackets: number };
  readonly events: readonly string[];
}

/**
 * Plays a message to this callee while a foreign host sprays: from the beginning, or once the callee receives audio.
 */
async function playWhileSprayed(script: Script, media: "thread" | "worker", { lateMs = 0 } = {}): Promise<Result> {
  const sprayer = await startSpraying();
  const acts = async (call: FarEndCall): Promise<void> => {
    await until(() => call.voice!.packets.length > 10, "our audio at the callee");
    sprayer.start();
    await script.acts?.(call);
  };
  const farEnd = await startFarEnd({ callees: { "*": lateMs > 0 ? { ...script, acts } : script } });
  closers.push(() => farEnd.close());
  const data = temporaryFolder("sprayed");
  const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
  const trunks = [{ name: "phone", server: farEnd.uri, users: "*" as const, rtpPorts: PORTS }];
  const ringport = createRingport({ data, storage, telephony: sip({ trunks, media }), mediaTimeoutMs: 1_500 });
  closers.push(() => ringport.stop({ drainMs: 0 }));
  const { id } = await ringport.instances.create(ADA, { name: "Line", provider: "sip/phone" });
  if (lateMs === 0) sprayer.start();
  const [target, audio] = [{ phoneNumber: "+12025550100" }, { audioBase64: MESSAGE }];
  const createdCall = await ringport.calls.create(ADA, { instanceId: id, type: "FIXED_AUDIO", target, audio });
  const call = await ringport.calls.wait(ADA, createdCall.id);
  const { events } = await ringport.calls.timeline(ADA, createdCall.id);
  const [callee] = farEnd.calls;
  return { outcome: call.outcome!, callee: callee!, sprayer, events: events.map(({ type }) => type) };
}

/**
 * Expects that the callee has heard the whole message, that the foreign host has received no packet, and that its audio
 * and keys had no effect.
 */
function expectOnlyCallee({ callee, sprayer: { sentPackets, receivedPackets }, events }: Result): void {
  const loudSamples = callee.heard.filter((sample) => Math.abs(sample) > 1_000).length;
  expect(loudSamples).toBeGreaterThan(0.9 * 8 * MESSAGE_MS * 0.9); // a sine is this loud for nine tenths of the time
  const startIndex = callee.heard.findIndex((sample) => Math.abs(sample) > 1_000);
  const tenths = Array.from({ length: MESSAGE_MS / 100 - 1 }, (_, i) =>
    callee.heard.subarray(startIndex + 800 * i, startIndex + 800 * (i + 1)),
  );
  // A busy machine may produce gaps in a few of them.
  const cleanCount = tenths.filter((part) => toneShare(part, 440, 8_000) > 0.9).length;
  expect(cleanCount).toBeGreaterThan(0.5 * tenths.length);
  expect(callee.voice!.packets.length).toBeGreaterThan(MESSAGE_MS / 20);
  expect(sentPackets).toBeGreaterThan(50);
  expect(receivedPackets).toBe(0);
  expect(events).not.toContain("dtmf");
}

const SPRAYED_LATER = { lateMs: 200 };

describe.each(["thread", "worker"] as const)("with the audio in a %s, a foreign host sprays the ports", (media) => {
  test("of a call with a silent callee, which is not evidence", async () => {
    const result = await playWhileSprayed(callees.silent, media);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ reason: "media_failed", heardEvidence: "none", heardRatio: null });
    expect(result.outcome.detail).toMatch(/^audio came neither from the host in the peer's SDP/);
  });

  test("of a call whose callee only sends RTCP", async () => {
    const result = await playWhileSprayed({ ...callees.silent, acts: (call) => call.voice!.report() }, media);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ reason: "message_played", heardEvidence: "rtcp", heardRatio: 1 });
  });

  test("of a call whose callee speaks", async () => {
    const result = await playWhileSprayed(callees.speaks, media);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ reason: "message_played", heardEvidence: "inbound", heardRatio: 1 });
  });

  test("of a call with early media", async () => {
    const earlyMediaScript: Script = {
      rings: [183],
      earlyMedia: true,
      afterMs: 500,
      says: { hz: 1_000 },
      fallsSilent: true,
    };
    const result = await playWhileSprayed(earlyMediaScript, media);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ reason: "media_failed", heardEvidence: "none" });
  });

  test("of a call that a re-INVITE renews", async () => {
    const acts = async (call: FarEndCall): Promise<void> => void (await call.reinvite("sendrecv"));
    const result = await playWhileSprayed({ ...callees.silent, acts }, media);
    expectOnlyCallee(result);
    expect(result.outcome.heardEvidence).toBe("none");
  });

  test("of a call whose audio and signalling are on different hosts", async () => {
    const result = await playWhileSprayed({ ...callees.speaks, mediaAt: "127.0.0.3" }, media, SPRAYED_LATER);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ reason: "message_played", heardEvidence: "inbound" });
  });

  test("of a callee behind a NAT, whose audio is not evidence", async () => {
    const behindNat: Script = { ...callees.speaks, host: "127.0.0.3", sendFrom: "127.0.0.2" };
    const result = await playWhileSprayed(behindNat, media, SPRAYED_LATER);
    expectOnlyCallee(result);
    expect(result.outcome).toMatchObject({ heardEvidence: "none", heardRatio: null });
  });
});
