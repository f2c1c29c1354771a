import { beforeEach, describe, expect, test, vi } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import { dialWebPort } from "../../../../examples/whatsapp/relay-ports.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { createRingport } from "../../../../src/ringport.ts";
import { type FakeRelay, FakeWhatsApp } from "../../../../src/testing/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech } from "../../../support/application.ts";
import { advanceUntilDone, passUntil } from "../../../support/during.ts";
import { instantCrypto } from "../../../support/instant-crypto.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
// Loads these in advance, and commits without a sync: the manual clock does not wait for the disk.
import "../../../../src/application/calls/live/call-quality.ts";
import "../../../../src/application/calls/dialling/dial-protection.ts";
import "../../../../src/application/calls/dialling/last-check.ts";

const CALLEE = "+5511987654321";
const RELAY: FakeRelay = { ip: "203.0.113.7" };
const RATE = 16_000;

/** Outcome of a message to a callee who speaks; `calleeHeard` is true if the message's audio reached them. */
async function playOver(
  relays: readonly FakeRelay[] | undefined,
  { workaround = false, media = "both" }: { workaround?: boolean; media?: "both" | "mute" } = {},
) {
  const system = new ManualSystem();
  const network = new FakeWhatsApp(system);
  if (workaround) dialWebPort(network.wrtc, (ms, run) => system.after(ms, run));
  network.relays = relays;
  network.number(CALLEE, { speaks: tone(440, 4_000, RATE, 8_000), media });
  const telephony = whatsapp({ client: network.client, system });
  const data = temporaryFolder("relay-ports");
  const embedded = { synchronous: "NORMAL" } as const;
  const ringport = createRingport({ data, system, telephony, speech: new ToneSpeech(), embedded });
  const { id: instanceId } = await ringport.instances.create(ALICE, { name: "Front desk" });
  const { payload } = await advanceUntilDone(system, ringport.instances.configure(ALICE, instanceId));
  network.scan(payload, "+5511912345678");
  const isActive = async () => (await ringport.instances.get(ALICE, instanceId)).status === "ACTIVE";
  await passUntil(system, 5_000, isActive);
  const tts = { text: "Your table is ready, and it waits for you", voiceId: "en-US-1" };
  const input = { instanceId, type: "FIXED_TTS", target: { phoneNumber: CALLEE }, tts } as const;
  const { id } = await ringport.calls.create(ALICE, input);
  await passUntil(system, 60_000, async () => (await ringport.calls.get(ALICE, id)).outcome !== null);
  const { outcome } = await ringport.calls.get(ALICE, id);
  await advanceUntilDone(system, ringport.stop());
  const { heard } = network.call();
  return {
    reason: outcome?.reason,
    ratio: outcome?.heardRatio,
    evidence: outcome?.heardEvidence,
    calleeHeard: heard.length > 0 && toneShare(heard, 440, RATE) > 0.5,
  };
}

beforeEach(instantCrypto);

describe("a message over relays, dialled on port 3478", () => {
  const ONE_WAY = { reason: "message_played", ratio: null, evidence: "none", calleeHeard: true };
  const NO_AUDIO = { ...ONE_WAY, calleeHeard: false };

  test("is heard, without audio from the callee", async () => {
    expect(await playOver([RELAY])).toEqual(ONE_WAY);
  });

  test("is heard over plain UDP, but no audio comes back", async () => {
    expect(await playOver([{ ...RELAY, isFna: true }])).toEqual(ONE_WAY);
  });

  test("has no ratio if a relay over plain UDP forwards no audio", async () => {
    expect(await playOver([{ ...RELAY, isFna: true, ports: [] }])).toEqual(NO_AUDIO);
  });

  test("has no ratio with a mute relay", async () => {
    expect(await playOver(undefined, { media: "mute" })).toEqual(NO_AUDIO);
  });

  test("fails without a relay that responds", async () => {
    expect(await playOver([{ ...RELAY, ports: [] }])).toMatchObject({ reason: "media_failed", calleeHeard: false });
  });
});

describe("the example's peer connections", () => {
  const TWO_WAY = { reason: "message_played", ratio: 1, evidence: "inbound", calleeHeard: true };
  const workaround = true;

  test("dial port 3480, with the callee's audio", async () => {
    expect(await playOver([RELAY], { workaround })).toEqual(TWO_WAY);
    expect(await playOver([{ ...RELAY, ports: [3480] }], { workaround })).toEqual(TWO_WAY);
  });

  test("dial port 3478 after a moment if a relay responds only there", async () => {
    const heard = await playOver([{ ...RELAY, ports: [3478] }], { workaround });
    expect(heard).toEqual({ ...TWO_WAY, ratio: null, evidence: "none" });
  });

  test("bring the audio back if one relay of several has port 3480", async () => {
    const relays = [{ ip: "203.0.113.8", isFna: true }, { ...RELAY, ports: [3478] }, { ip: "203.0.113.9" }];
    expect(await playOver(relays, { workaround })).toEqual(TWO_WAY);
  });

  const candidateOf = (port: number) =>
    `a=candidate:2 1 udp 2122262783 198.51.100.1 ${port} typ host generation 0 network-cost 5\r\n`;

  /** A package whose connections only record their input. */
  function recordingWrtc() {
    const descriptions: unknown[][] = [];
    class RTCPeerConnection {
      iceConnectionState = "new";
      async setRemoteDescription(description: { type: string; sdp: string }, ...legacy: unknown[]): Promise<void> {
        descriptions.push([description.sdp, ...legacy]);
      }
      async addIceCandidate(): Promise<void> {}
    }
    const connection = new RTCPeerConnection();
    const setDescription = (sdp: string, ...legacy: []) =>
      connection.setRemoteDescription({ type: "answer", sdp }, ...legacy);
    return { wrtc: { RTCPeerConnection }, setDescription, descriptions };
  }

  test("leave a description without candidates unchanged", async () => {
    const { wrtc, setDescription, descriptions } = recordingWrtc();
    dialWebPort(wrtc, () => {});
    const foreignCandidate = "a=candidate:2 1 udp 1 198.51.100.1 3478 typ host\r\n";
    for (const sdp of [candidateOf(3478), candidateOf(34780), candidateOf(3480), foreignCandidate])
      await setDescription(sdp);
    expect(descriptions).toEqual([[candidateOf(3480)], [candidateOf(34780)], [candidateOf(3480)], [foreignCandidate]]);
  });

  test("forward callbacks", async () => {
    const { wrtc, setDescription, descriptions } = recordingWrtc();
    dialWebPort(wrtc, () => {});
    const callbacks = [() => {}, () => {}] as unknown as [];
    await setDescription(candidateOf(3478), ...callbacks);
    await setDescription("v=0\r\n", ...callbacks);
    expect(descriptions).toEqual([
      [candidateOf(3480), ...callbacks],
      ["v=0\r\n", ...callbacks],
    ]);
  });

  test.each([
    [0, 1],
    [1, 0],
  ])("can be restored in any order (%i, %i)", async (first, second) => {
    const { wrtc, setDescription, descriptions } = recordingWrtc();
    const restores = [dialWebPort(wrtc, () => {}), dialWebPort(wrtc, () => {})];
    restores[first]?.();
    await setDescription(candidateOf(3478));
    restores[second]?.();
    await setDescription(candidateOf(3478));
    expect(descriptions).toEqual([[candidateOf(3480)], [candidateOf(3478)]]);
    dialWebPort(wrtc, () => {})();
    await setDescription(candidateOf(3478));
    expect(descriptions.at(-1)).toEqual([candidateOf(3478)]);
  });

  test("dial in a runtime whose timers are numbers", async () => {
    const { wrtc, setDescription, descriptions } = recordingWrtc();
    vi.stubGlobal("setTimeout", () => 1);
    try {
      dialWebPort(wrtc);
      await setDescription(candidateOf(3478));
    } finally {
      vi.unstubAllGlobals();
    }
    expect(descriptions).toEqual([[candidateOf(3480)]]);
  });
});
