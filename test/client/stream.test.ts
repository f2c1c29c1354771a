import type { CallStream } from "ringport/client";
import { beforeAll, describe, expect, test } from "vitest";
import { encodeAlaw, encodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../src/audio/tones/tone.ts";
import { allOf, heardBy, namesOf, RATE, streamScene, waitUntil } from "./support/stream-scene.ts";

const scene = streamScene();
const { network } = scene;
const HZ = 700;
/** A tone whose length is not a whole number of frames. */
const TONE = tone(HZ, 1_003, RATE, 8_000);

/** A tone starts and ends with a zero crossing, whose zeros look like silence. */
const expectedSamples = heardBy({ heard: TONE });

describe("write", () => {
  test("the callee hears every written sample, even from before pickup", async () => {
    const { id, leg } = await scene.ring();
    const stream = await scene.client().stream(id);
    for (let offset = 0, size = 1; offset < TONE.length; offset += size, size = (size * 7) % 997)
      await stream.write(TONE.subarray(offset, offset + size));
    leg.answer();
    expect(await stream.mark("end")).toBe("reached");
    expect(heardBy(leg)).toEqual(expectedSamples);
    expect(await stream.hangUp()).toEqual({ status: "completed", reason: "stream_closed" });
    const eventNames = namesOf(await allOf(stream.events())).filter((name) => name !== "transcripts_unavailable");
    expect(eventNames).toEqual(["ringing", "answered", "mark", "completed"]);
  });

  test("written bytes may be cut within samples", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id);
    const bytes = new Uint8Array(TONE.buffer);
    for (let offset = 0, size = 1; offset < bytes.length; offset += size, size = (size * 7) % 997)
      await stream.write(bytes.subarray(offset, offset + size));
    expect(await stream.mark("end")).toBe("reached");
    expect(heardBy(leg)).toEqual(expectedSamples);
    await stream.hangUp();
  });

  test.each([
    { encoding: "mulaw", encode: encodeMulaw },
    { encoding: "alaw", encode: encodeAlaw },
  ] as const)("$encoding may be samples or bytes", async ({ encoding, encode }) => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { encoding });
    const halfTone = tone(HZ, 500, 8_000, 8_000);
    await stream.write(halfTone);
    await stream.write(encode(halfTone));
    expect(await stream.mark("end")).toBe("reached");
    const heard = heardBy(leg);
    expect(heard.length / RATE).toBeCloseTo(1, 1);
    expect(toneShare(heard, HZ, RATE)).toBeGreaterThan(0.98);
    await stream.hangUp();
  });

  test.each([22_050, 44_100] as const)("samples at %i Hz are heard exactly", async (sampleRate) => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { sampleRate });
    await stream.write(tone(HZ, 1_003, sampleRate, 8_000));
    expect(await stream.mark("end")).toBe("reached");
    const heard = heardBy(leg);
    expect(Math.abs(heard.length - TONE.length)).toBeLessThan(RATE / 1_000);
    expect(toneShare(heard, HZ, RATE)).toBeGreaterThan(0.99);
    await stream.hangUp();
  });

  test("an MP3 may be written in any pieces", async () => {
    const { readFile } = await import("node:fs/promises");
    const mp3 = await readFile(new URL("../../examples/hello.mp3", import.meta.url));
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { encoding: "mp3" });
    for (let offset = 0; offset < mp3.length; offset += 777) await stream.write(mp3.subarray(offset, offset + 777));
    expect(() => stream.write(TONE)).toThrow(/write the bytes of the MP3/);
    expect(await stream.mark("end")).toBe("reached");
    expect(heardBy(leg).length / RATE).toBeGreaterThan(1);
    await stream.hangUp();
  });
});

describe("the callee's audio", () => {
  test.each(["pcm_s16le", "mulaw", "alaw"] as const)("arrives in frames of 20 ms as %s", async (encoding) => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { encoding, sampleRate: RATE, audio: "callee" });
    leg.say(TONE);
    const heard = new Int16Array(2 * RATE);
    let filledCount = 0;
    for await (const frame of stream.audio()) {
      expect(frame).toBeInstanceOf(Int16Array);
      expect(frame.length).toBe(RATE / 50);
      heard.set(frame, filledCount);
      filledCount += frame.length;
      if (filledCount === heard.length) break;
    }
    // A-law has no zero: its silence is the lowest level.
    const voice = heardBy({ heard: heard.map((sample) => (Math.abs(sample) > 8 ? sample : 0)) });
    if (encoding === "pcm_s16le") expect(heardBy({ heard })).toEqual(expectedSamples);
    else expect(toneShare(voice, HZ, RATE)).toBeGreaterThan(0.98);
    await stream.close();
  });

  test("requires the option audio", async () => {
    const { id } = await scene.answeredCall();
    const stream = await scene.client().stream(id);
    expect(() => stream.audio()).toThrow(/audio: "callee"/);
    await stream.close();
  });
});

describe("clear", () => {
  test("drops all queued audio, returns heard_ms and settles the marks", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id);
    const longTone = tone(HZ, 40_000, RATE, 8_000);
    const writePromise = stream.write(longTone);
    const end = stream.mark("the end");
    await waitUntil(() => heardBy(leg).length > RATE / 2, "no audio was heard");
    const heardMs = await stream.clear();
    await writePromise;
    expect(await end).toBe("cleared");
    await stream.write(tone(1_900, 200, RATE, 8_000));
    expect(await stream.mark("again")).toBe("reached");
    const heard = heardBy(leg);
    expect(heard.length / RATE).toBeCloseTo(heardMs / 1_000 + 0.2, 0);
    expect(Math.abs(toneShare(heard.subarray(-RATE / 10), 1_900, RATE))).toBeGreaterThan(0.98);
    expect((await stream.hangUp()).reason).toBe("stream_closed");
  });
});

describe("the end of a stream", () => {
  test("a hang-up by the callee ends writes, marks and iterators", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id, { audio: "callee" });
    const reading = Promise.all([allOf(stream.events()), allOf(stream.audio())]);
    await stream.write(tone(HZ, 5_000, RATE, 8_000));
    const mark = stream.mark("never");
    leg.end("callee_hung_up");
    expect(await stream.ended).toEqual({ status: "completed", reason: "callee_hung_up" });
    expect(await mark).toBe("ended");
    expect(await stream.write(TONE)).toBe(false);
    await expect(stream.clear()).rejects.toMatchObject({ code: "call_ended" });
    expect(await stream.mark("late")).toBe("ended");
    const [events] = await reading;
    expect(namesOf(events).at(-1)).toBe("completed");
    await stream.close();
  });

  test("a failed call ends the stream as failed", async () => {
    const { id, leg } = await scene.ring();
    const stream = await scene.client().stream(id);
    leg.end("busy");
    expect(await stream.ended).toEqual({ status: "failed", reason: "busy" });
  });

  test("close ends the call once the written audio has been heard", async () => {
    const { id, leg } = await scene.answeredCall();
    const client = scene.client();
    const stream = await client.stream(id);
    void stream.write(TONE);
    await stream.close();
    expect((await stream.ended).status).toBe("closed");
    const { outcome } = await client.waitForCall(id);
    expect(outcome.reason).toBe("stream_closed");
    expect(heardBy(leg)).toEqual(expectedSamples);
  });

  test("a signal ends the stream at once", async () => {
    const { id } = await scene.answeredCall();
    const stop = new AbortController();
    const stream = await scene.client().stream(id, { signal: stop.signal });
    const reading = allOf(stream.events());
    const reason = new Error("aborted by the caller");
    stop.abort(reason);
    await expect(stream.ended).rejects.toBe(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(stream.write(TONE)).rejects.toBe(reason);
    await expect(scene.client().stream(id, { signal: stop.signal })).rejects.toBe(reason);
  });
});

describe("DTMF", () => {
  test("keys are sent to the callee and received from them", async () => {
    const { id, leg } = await scene.answeredCall();
    const stream = await scene.client().stream(id);
    leg.press("5");
    for await (const event of stream.events())
      if (event.type === "call_event" && event.event === "dtmf") {
        expect(event.digit).toBe("5");
        break;
      }
    await stream.dtmf("12#");
    expect(await stream.mark("pressed")).toBe("reached");
    expect(heardBy(leg).length / RATE).toBeGreaterThan(0.4);
    expect(() => stream.dtmf("x")).toThrow(RangeError);
    await stream.close();
  });
});

describe("a second reader", () => {
  let stream: CallStream;
  beforeAll(async () => {
    stream = await scene.client().stream((await scene.answeredCall()).id);
  });

  test("the next event reader continues after the first", async () => {
    const first = stream.events();
    expect((await first.next()).value).toMatchObject({ event: "ringing" });
    await expect(stream.events().next()).rejects.toThrow(/one loop at a time/);
    await first.return();
    expect((await stream.events().next()).value).toMatchObject({ event: "answered" });
    await stream.close();
    expect(network.legs.length).toBeGreaterThan(0);
  });
});
