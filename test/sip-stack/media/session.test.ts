import { afterEach, describe, expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { toneMs } from "../../support/server-sound.ts";
import { find } from "./simulated-network.ts";
import { twoEnds, until } from "./two-ends.ts";

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

/** Compared sample by sample in real time: retried if the machine stalls for more than half a second. */
const REAL_TIME = { retry: 2 };

describe("a call between two ends", REAL_TIME, () => {
  test("each end receives the other's tone completely", async () => {
    const ends = await twoEnds();
    close = ends.close;
    const { a, b } = ends;
    const low = tone(440, 500, 8000, 8000);
    const high = tone(1000, 500, 8000, 8000);
    a.say(low);
    b.say(high);
    await until(
      () => a.hasPlayedClip && b.hasPlayedClip && a.heard.length > 12_000 && b.heard.length > 12_000,
      "both tones have been sent",
    );
    expect(find(b.heard, decodeMulaw(encodeMulaw(low)))).toBeGreaterThanOrEqual(0);
    expect(find(a.heard, decodeMulaw(encodeMulaw(high)))).toBeGreaterThanOrEqual(0);
    expect(toneShare(b.heard, 1000, 8000)).toBeLessThan(0.01);
    expect(a.events).toEqual(["sending", "receiving"]);
    const { packetsSent, packetsReceived, packetsLost, mos } = a.session.statistics();
    expect(packetsSent).toBeGreaterThan(50);
    expect(packetsReceived).toBeGreaterThan(50);
    expect(packetsLost).toBe(0);
    expect(mos).toBeGreaterThan(4.2);
  });

  test("a tone at 16 kHz passes a codec of 8 kHz", async () => {
    const ends = await twoEnds({ codec: "PCMA", payloadType: { send: 8, receive: 8 } }, { sampleRate: 16_000 });
    close = ends.close;
    ends.a.say(tone(440, 500, 16_000, 8000));
    await until(() => ends.a.hasPlayedClip && ends.b.heard.length > 24_000, "the tone of a");
    expect(toneMs({ samples: ends.b.heard, sampleRate: 16_000 }, 440)).toBeGreaterThan(400);
  });

  test("keys arrive once each, in both directions, while the source waits", async () => {
    const ends = await twoEnds();
    close = ends.close;
    const { a, b } = ends;
    await until(() => a.heard.length > 0 && b.heard.length > 0, "audio runs");
    await Promise.all([a.session.sendDigits("11#"), b.session.sendDigits("A*0")]);
    await until(() => a.digits.length === 3 && b.digits.length === 3, "the keys");
    expect(b.digits).toEqual(["1", "1", "#"]);
    expect(a.digits).toEqual(["A", "*", "0"]);
    await expect(a.session.sendDigits("x")).rejects.toThrow(RangeError);
  });

  test("the side that closes sends a BYE packet", async () => {
    const ends = await twoEnds({}, { lossMs: 1_000 });
    close = ends.close;
    await ends.a.session.close();
    await until(() => ends.b.events.some((event) => event.includes("RTCP BYE")), "the goodbye");
  });
});

describe("the codecs", REAL_TIME, () => {
  test("Opus carries a tone at 16 kHz, together with keys", async () => {
    const ends = await twoEnds(
      {
        codec: "opus",
        payloadType: { send: 111, receive: 111 },
        telephoneEvent: { payloadType: 110, clockRate: 48_000 },
      },
      { sampleRate: 16_000 },
    );
    close = ends.close;
    const { a, b } = ends;
    a.say(tone(440, 1_000, 16_000, 8000));
    await until(() => a.hasPlayedClip && b.heard.length > 32_000, "the tone of a", 10_000);
    expect(toneMs({ samples: b.heard, sampleRate: 16_000 }, 440)).toBeGreaterThan(800);
    await a.session.sendDigits("5");
    await until(() => b.digits.length === 1, "the key");
    expect(a.session.statistics().codec).toBe("opus");
  });

  test.each([20, 60])("G.722 carries a tone of 5 kHz and keys in packets of %i ms", async (ptimeMs) => {
    const ends = await twoEnds(
      { codec: "G722", payloadType: { send: 9, receive: 9 }, ptimeMs },
      { sampleRate: 16_000 },
    );
    close = ends.close;
    const { a, b } = ends;
    a.say(tone(5_000, 1_000, 16_000, 8000));
    await until(() => a.hasPlayedClip && b.heard.length > 32_000, "the tone of a", 10_000);
    expect(toneMs({ samples: b.heard, sampleRate: 16_000 }, 5_000)).toBeGreaterThan(800);
    await a.session.sendDigits("5");
    await until(() => b.digits.length === 1, "the key");
    const { codec, packetsLost, jitterMs } = b.session.statistics();
    expect({ codec, packetsLost }).toEqual({ codec: "G722", packetsLost: 0 });
    expect(jitterMs, "timestamps count at 8,000 Hz").toBeLessThan(10);
  });

  test.each([10, 30, 60])("packets of %i ms carry every sample", async (ptimeMs) => {
    const ends = await twoEnds({ ptimeMs });
    close = ends.close;
    const clip = tone(440, 400, 8000, 8000);
    ends.a.say(clip);
    await until(() => ends.a.hasPlayedClip && ends.b.heard.length > 12_000, "the tone of a");
    expect(find(ends.b.heard, decodeMulaw(encodeMulaw(clip)))).toBeGreaterThanOrEqual(0);
  });
});
