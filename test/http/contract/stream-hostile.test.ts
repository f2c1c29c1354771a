import { describe, expect, test } from "vitest";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { whiteNoise } from "../../audio/noise.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { toneShare } from "../../support/server-sound.ts";
import { answeredStream, fixture, loudSound, STREAMS, streamCall } from "../../support/stream-calls.ts";

const sound = (ms: number) => tone(1_000, ms, 16_000, 8_000);

const server = useLocalServer(STREAMS);

describe.concurrent("an invalid text message", () => {
  test("gets an error that names the fault, and the call continues", async () => {
    const { call, client, stream } = await answeredStream(server);
    const invalidMessages: [message: string, code: string, detail: RegExp][] = [
      ["hello", "invalid_json", /JSON object; send audio as binary/],
      ["", "invalid_json", /JSON object/],
      ["[]", "invalid_json", /JSON object/],
      ["null", "invalid_json", /JSON object/],
      [`${"[".repeat(60_000)}`, "invalid_json", /JSON/],
      [`{"type":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, "unknown_message", /has no type; known types: mark/],
      ["x".repeat(70_000), "message_too_large", /65536 characters/],
      ['{"type":"marc"}', "unknown_message", /"marc"; known types: mark, .*dtmf/],
      ['{"type":"__proto__"}', "unknown_message", /"__proto__"/],
      ['{"type":"mark"}', "invalid_message", /mark: name must be/],
      [`{"type":"mark","name":"${"n".repeat(257)}"}`, "invalid_message", /1 to 256 characters/],
      ['{"type":"dtmf","digits":"12x"}', "invalid_message", /dtmf: digits must be/],
      ['{"type":"dtmf","digits":5}', "invalid_message", /0-9 \* # A-D/],
    ];
    for (const [message] of invalidMessages) stream.sendMessage(message);
    stream.sendMessage({ type: "mark", name: "after all of them" });
    await stream.event("mark");
    const errors = stream.messages.filter(({ type }) => type === "error");
    expect(errors.map(({ code }) => code)).toEqual(invalidMessages.map(([, code]) => code));
    for (const [i, error] of errors.entries()) expect(error.detail).toMatch(invalidMessages[i]![2]);
    await stream.write(sound(300));
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    expect(loudSound(await client.heard(call.id)).ms).toBeGreaterThan(290);
  });
});

describe.concurrent("bytes other than the declared audio", () => {
  test.for<
    [what: string, query: Record<string, string>, bytes: () => Uint8Array | Promise<Uint8Array>, reason: RegExp]
  >([
    [
      "text as MP3",
      { encoding: "mp3" },
      () => Buffer.from("this is no MP3 at all. ".repeat(5_000)),
      /this is text, not/,
    ],
    ["noise as MP3", { encoding: "mp3" }, () => pcmToBytes(whiteNoise(8_000, 3_000, 1)), /no MP3 frames/],
    ["JSON as PCM", {}, () => Buffer.from('{"error":{"message":"Invalid API key"}}'), /this is text \(JSON\)/],
    ["an MP3 as A-law", { encoding: "alaw" }, () => fixture("tone-44k-stereo-id3.mp3"), /this is MP3, not alaw/],
    ["Ogg as PCM", {}, () => Buffer.from(`OggS\0\x02${"\0".repeat(60)}`), /this is Ogg/],
  ])("%s closes the stream with 1003; the call waits for a client", async ([, query, bytes, reason]) => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open({ query });
    await dial();
    await stream.event("answered");
    await stream.write(await bytes());
    const close = await stream.closed();
    expect(close.code).toBe(1003);
    expect(close.reason).toMatch(reason);
    const nextStream = await open({ query: { encoding: "pcm_s16le" } });
    await nextStream.write(sound(300));
    nextStream.sendMessage({ type: "hangup" });
    expect(await nextStream.closed()).toMatchObject({ code: 1000 });
    expect(loudSound(await client.heard(call.id)).ms).toBeGreaterThan(290);
  });

  test("a truncated MP3 is heard to its end", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open({ query: { encoding: "mp3" } });
    await dial();
    await stream.event("answered");
    const file = await fixture("tone-16k-mono-vbr.mp3");
    await stream.write(file.subarray(0, Math.round(file.length / 2)));
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    const heardSound = loudSound(await client.heard(call.id));
    expect(toneShare(heardSound, 1_000)).toBeGreaterThan(0.95);
    expect(heardSound.ms).toBeGreaterThan(1_000);
    expect(heardSound.ms).toBeLessThan(2_000);
  });
});

describe.concurrent("unheard audio is reported", () => {
  test("half a sample at the end is an event of the call; audio after hangup is an error", async () => {
    const { call, client, stream } = await answeredStream(server);
    await stream.write(sound(300));
    await stream.write(new Uint8Array(1));
    stream.sendMessage({ type: "hangup" });
    await stream.write(sound(300));
    await stream.write(sound(300));
    expect(await stream.error("invalid_message")).toMatchObject({
      detail: expect.stringMatching(/audio after hangup/),
    });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    expect(stream.messages.filter(({ type }) => type === "error")).toHaveLength(1);
    const events = (await client.get(`/v1/calls/${call.id}/events`)).json<{ type: string; data: object }[]>();
    expect(events.filter(({ type }) => type === "audio_ignored").map(({ data }) => data)).toEqual([
      { reason: "incomplete", bytes: 1 },
    ]);
    expect(Math.abs(loudSound(await client.heard(call.id)).ms - 300)).toBeLessThan(15);
  });

  test("an MP3 that ends within a frame is reported when its client closes the stream", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open({ query: { encoding: "mp3" } });
    await dial();
    await stream.event("answered");
    const file = await fixture("tone-16k-mono-vbr.mp3");
    await stream.write(file.subarray(0, file.length - 50));
    await stream.close(1000);
    await client.waitForCall(call.id, ["COMPLETED"]);
    const events = (await client.get(`/v1/calls/${call.id}/events`)).json<
      { type: string; data: { reason?: string } }[]
    >();
    expect(events.filter(({ type }) => type === "audio_ignored").map(({ data }) => data.reason)).toContain(
      "incomplete",
    );
  });
});

describe.concurrent("the sizes of messages", () => {
  test("single bytes are heard in full", async () => {
    const { call, client, open, dial } = await streamCall(server);
    const stream = await open();
    await stream.writePieces(sound(400), [1]);
    await stream.waitUntilReceived();
    await dial();
    await stream.event("answered");
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    const heardSound = loudSound(await client.heard(call.id), 0);
    expect(Math.abs(heardSound.ms - 400)).toBeLessThan(3);
    expect(toneShare(heardSound, 1_000)).toBeGreaterThan(0.98);
  });

  test("more than 30 s of audio is reported; more than 60 s waits", async () => {
    const { call, client, open } = await streamCall(server);
    const stream = await open();
    await stream.write(sound(31_000));
    expect(await stream.event("buffer_high")).toMatchObject({ queued_ms: 31_000 });
    stream.write(sound(15_000)).catch(() => {});
    stream.write(sound(15_000)).catch(() => {});
    expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    expect(await stream.closed()).toMatchObject({ code: 4010 });
  });
});
