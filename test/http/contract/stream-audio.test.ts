import { describe, expect, test } from "vitest";
import { encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { type StreamEncoding, sampleCoding } from "../../../src/audio/samples/stream-format.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { until } from "../../support/server-client.ts";
import { loudness, phaseJump, toneShare } from "../../support/server-sound.ts";
import { answeredStream, fixture, loudSound, STREAMS, streamCall } from "../../support/stream-calls.ts";

const HZ = 1_000;
const BEEPS = "+12025550105";
const pcm = (ms: number, rate: number) => tone(HZ, ms, rate, 8_000);

const server = useLocalServer(STREAMS);

describe.concurrent("the client's audio is what the callee hears", () => {
  test.for<
    [what: string, query: Record<string, string | number>, bytes: () => Promise<Int16Array | Uint8Array>, ms: number]
  >([
    ["PCM at 16 kHz without parameters", {}, async () => pcm(1500, 16_000), 1500],
    ["PCM at 8 kHz", { sample_rate: 8_000 }, async () => pcm(1500, 8_000), 1500],
    ["PCM at 24 kHz", { encoding: "pcm_s16le", sample_rate: 24_000 }, async () => pcm(1500, 24_000), 1500],
    ["PCM at 48 kHz", { encoding: "pcm_s16le", sample_rate: 48_000 }, async () => pcm(1500, 48_000), 1500],
    ["mu-law at 8 kHz", { encoding: "mulaw" }, async () => encodeMulaw(pcm(1500, 8_000)), 1500],
    ["mu-law at 16 kHz", { encoding: "mulaw", sample_rate: 16_000 }, async () => encodeMulaw(pcm(1500, 16_000)), 1500],
    ["PCM at 22.05 kHz", { sample_rate: 22_050 }, async () => pcm(1500, 22_050), 1500],
    ["PCM at 44.1 kHz", { encoding: "pcm_s16le", sample_rate: 44_100 }, async () => pcm(1500, 44_100), 1500],
    ["PCM at 32 kHz", { encoding: "pcm_s16le", sample_rate: 32_000 }, async () => pcm(1500, 32_000), 1500],
    ["A-law at 8 kHz", { encoding: "alaw" }, async () => encodeAlaw(pcm(1500, 8_000)), 1500],
    ["A-law at 22.05 kHz", { encoding: "alaw", sample_rate: 22_050 }, async () => encodeAlaw(pcm(1500, 22_050)), 1500],
    ["MP3 of 44.1 kHz with a picture in front", { encoding: "mp3" }, () => fixture("tone-44k-stereo-id3.mp3"), 3000],
    ["MP3 without parameters", {}, () => fixture("tone-16k-mono-vbr.mp3"), 3000],
  ])("%s is heard by the callee", async ([, query, bytes, ms]) => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open({ query });
    await stream.writePieces(await bytes(), [640, 1, 77, 1500]);
    await stream.waitUntilReceived();
    await dial();
    await stream.event("answered");
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    const heardSound = loudSound(await client.heard(call.id));
    expect(toneShare(heardSound, HZ)).toBeGreaterThan(0.97);
    expect(heardSound.ms).toBeGreaterThan(ms - 20);
    expect(heardSound.ms).toBeLessThan(ms + 80);
    expect(await client.readCall(call.id)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "stream_closed" },
    });
  });

  test("1,000 frames of odd sizes are heard without a lost sample", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open();
    const sizes = Array.from({ length: 1_000 }, (_, i) => 1 + ((i * 7919) % 191));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const sentSamples = tone(HZ, bytes / 32, 16_000, 8_000);
    await stream.writePieces(sentSamples, sizes);
    await stream.waitUntilReceived();
    await dial();
    await stream.event("answered");
    stream.sendMessage({ type: "hangup" });
    await stream.closed();
    const heardSound = loudSound(await client.heard(call.id), 0);
    expect(Math.abs(heardSound.samples.length - sentSamples.length)).toBeLessThan(40);
    expect(phaseJump(heardSound, HZ)).toBeLessThan(0.2);
  });

  test("audio sent before the answer is heard from its first sample", async () => {
    const { call, client, open, dial } = await streamCall(server, { to: "+12025550110" });
    const stream = await open();
    await stream.write(pcm(1000, 16_000));
    stream.sendMessage({ type: "mark", name: "heard" });
    await dial();
    const answeredEvent = await stream.event("answered");
    const mark = await stream.event("mark");
    expect(stream.eventNames).toEqual(["ringing", "answered", "transcripts_unavailable", "mark"]);
    const elapsedMs = Date.parse(mark.timestamp!) - Date.parse(answeredEvent.timestamp!);
    expect(elapsedMs).toBeGreaterThan(900);
    expect(elapsedMs).toBeLessThan(1_500);
    await stream.close(1000);
    await client.waitForCall(call.id, ["COMPLETED"]);
    expect(loudSound(await client.heard(call.id)).ms).toBeGreaterThan(990);
  });
});

describe.concurrent("responses to a client's requests", () => {
  test("marks return in order, as each is reached", async () => {
    const { client, call, open, dial } = await streamCall(server);
    const stream = await open();
    for (const name of ["one", "two", "three 🦜"]) {
      await stream.write(pcm(300, 16_000));
      stream.sendMessage({ type: "mark", name });
    }
    await dial();
    await stream.message(({ name }) => name === "three 🦜", "the last mark");
    const marks = stream.events.filter(({ event }) => event === "mark");
    expect(marks.map(({ name }) => name)).toEqual(["one", "two", "three 🦜"]);
    const [firstAt, , lastAt] = marks.map(({ timestamp }) => Date.parse(timestamp!));
    expect(lastAt! - firstAt!).toBeGreaterThan(300);
    expect(lastAt! - firstAt!).toBeLessThan(1_500);
    await stream.close(1000);
    await client.waitForCall(call.id, ["COMPLETED"]);
  });

  test("clear drops pending audio, and reports how much was heard", async () => {
    const { client, call, open, dial } = await streamCall(server);
    const stream = await open();
    await stream.write(pcm(400, 16_000));
    stream.sendMessage({ type: "mark", name: "first" });
    await stream.write(pcm(20_000, 16_000));
    stream.sendMessage({ type: "mark", name: "never" });
    await dial();
    await stream.event("mark");
    stream.sendMessage({ type: "clear" });
    const { heard_ms } = await stream.event("cleared");
    expect(heard_ms).toBeGreaterThanOrEqual(380);
    expect(heard_ms).toBeLessThan(2_000);
    stream.sendMessage({ type: "hangup" });
    await stream.closed(3_000);
    expect(stream.eventNames).toEqual([
      "ringing",
      "answered",
      "transcripts_unavailable",
      "mark",
      "cleared",
      "completed",
    ]);
    const heardSound = loudSound(await client.heard(call.id));
    expect(Math.abs(heardSound.ms - Number(heard_ms))).toBeLessThan(100);
  });

  test("dtmf sends keys that the callee hears", async () => {
    const { client, call, stream } = await answeredStream(server);
    stream.sendMessage({ type: "dtmf", digits: "5" });
    stream.sendMessage({ type: "mark", name: "x" });
    await stream.event("mark");
    await client.waitForCall(call.id, ["IN_PROGRESS"]);
    stream.sendMessage({ type: "hangup" });
    await stream.closed();
    const heardSound = loudSound(await client.heard(call.id));
    expect(toneShare(heardSound, 770) + toneShare(heardSound, 1336)).toBeGreaterThan(0.9);
  });

  test("the callee's keys arrive as events", async () => {
    const { open, dial } = await streamCall(server, { to: "+12025550107" });
    const stream = await open();
    await dial();
    await stream.message(({ digit }) => digit === "#", "the last key");
    expect(stream.events.filter(({ event }) => event === "dtmf").map(({ digit }) => digit)).toEqual([..."1234#"]);
    await stream.close(1000);
  });
});

describe.concurrent("the callee's audio, 20 ms at a time from the answer on", () => {
  test.for<[what: string, query: Record<string, string | number>, rate: number, bytes: number]>([
    ["as PCM at 16 kHz", {}, 16_000, 640],
    ["as PCM at 48 kHz", { encoding: "pcm_s16le", sample_rate: 48_000 }, 48_000, 1920],
    ["as mu-law at 8 kHz", { encoding: "mulaw" }, 8_000, 160],
    ["as PCM at 22.05 kHz", { sample_rate: 22_050 }, 22_050, 882],
    ["as PCM at 44.1 kHz", { sample_rate: 44_100 }, 44_100, 1764],
    ["as A-law at 8 kHz", { encoding: "alaw" }, 8_000, 160],
    ["as A-law at 44.1 kHz", { encoding: "alaw", sample_rate: 44_100 }, 44_100, 882],
    ["as PCM if MP3 is sent", { encoding: "mp3", sample_rate: 8_000 }, 8_000, 320],
  ])("is returned %s", async ([, query, rate, bytes]) => {
    const { open, dial } = await streamCall(server, { to: BEEPS });
    const stream = await open({ query: { ...query, audio: "callee" } });
    await dial();
    const answeredEvent = await stream.event("answered");
    const { decode } = sampleCoding(query.encoding as StreamEncoding | undefined);
    /** Number of tenths of a second that contain only the tone. */
    const beeps = (): number => {
      const samples = decode(Buffer.concat(stream.frames));
      const size = rate / 10;
      const pieces = Array.from({ length: Math.floor(samples.length / size) }, (_, i) => ({
        sampleRate: rate,
        samples: samples.subarray(i * size, (i + 1) * size),
      }));
      return pieces.filter((piece) => loudness(piece) > 500 && toneShare(piece, HZ) > 0.95).length;
    };
    // The beep of a voicemail is 400 ms long.
    await until(beeps, (count) => count >= 3, 15_000, "the beep");
    const elapsedMs = Date.now() - Date.parse(answeredEvent.timestamp!);
    // Never ahead of the clock; a busy machine may deliver it late.
    expect(20 * stream.frames.length).toBeLessThan(elapsedMs + 300);
    expect(20 * stream.frames.length).toBeGreaterThan(elapsedMs - 4_000);
    expect(new Set(stream.frames.map(({ length }) => length))).toEqual(new Set([bytes]));
    await stream.close(1000);
  });

  test("is not returned unless requested", async () => {
    const { open, dial } = await streamCall(server, { to: BEEPS });
    const stream = await open();
    await stream.write(pcm(800, 16_000));
    stream.sendMessage({ type: "mark", name: "all of it" });
    await dial();
    await stream.event("mark");
    stream.sendMessage({ type: "hangup" });
    await stream.closed();
    expect(stream.frames).toEqual([]);
  });
});
