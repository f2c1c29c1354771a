import { describe, expect, test } from "vitest";
import { DtmfDetector } from "../../src/audio/dtmf.ts";
import { ON_NODE, ON_OTHER_RUNTIMES, ON_POSTGRES, onEach, useServer } from "../support/server.ts";
import { type CallView, type Client, expected, until } from "../support/server-client.ts";
import { loudness, type Sound, toneShare, toneWav } from "../support/server-sound.ts";

const TONE = { hz: 1_000, ms: 2_500 };
const AUDIO = { type: "FIXED_AUDIO", audio: { audioBase64: toneWav(TONE).toString("base64") }, recording: true };
/** Presses 1 2 3 4 # half a second after it has answered. */
const PRESSES_KEYS = { phoneNumber: "+12025550107" };
/** Longer than any test waits for it. */
const LONG = {
  type: "FIXED_AUDIO",
  audio: { audioBase64: toneWav({ ms: 20_000 }).toString("base64") },
  recording: true,
};

type Media = { recording?: { duration_ms: number; url: string } | null } | null;

const recordingOf = (id: string): string => `/v1/calls/${id}/recording`;

async function mediaOf(client: Client, id: string): Promise<Media> {
  return expected(200, await client.get(`/v1/calls/${id}?expand=media`)).json<CallView & { media: Media }>().media;
}

/** The two channels of a WAV file. @throws {Error} its header and its length do not agree */
function channels(file: Buffer): { left: Sound; right: Sound; ms: number } {
  const [count, bits, sampleRate] = [file.readUInt16LE(22), file.readUInt16LE(34), file.readUInt32LE(24)];
  const claimed = { channels: count, bits, riff: file.readUInt32LE(4), data: file.readUInt32LE(40) };
  expect(claimed).toEqual({ channels: 2, bits: 16, riff: file.length - 8, data: file.length - 44 });
  const channel = (at: number): Sound => ({
    sampleRate,
    samples: Int16Array.from({ length: claimed.data / 4 }, (_, i) => file.readInt16LE(44 + 4 * i + at)),
  });
  return { left: channel(0), right: channel(2), ms: (claimed.data / 4 / sampleRate) * 1_000 };
}

function keysIn({ samples, sampleRate }: Sound): { keys: string; firstAtMs: number } {
  let [keys, firstAtMs] = ["", -1];
  const detector = new DtmfDetector(sampleRate, (digit, atMs) => {
    if (keys === "") firstAtMs = atMs;
    keys += digit;
  });
  detector.push(samples);
  return { keys, firstAtMs };
}

onEach([ON_NODE, ...ON_OTHER_RUNTIMES, ON_POSTGRES], (target) => {
  const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

  test("both sides of a call that is recorded are heard, each at its time, and deleted on request", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const call = await client.call(instance, { ...AUDIO, target: PRESSES_KEYS });
    expect(Object.keys(call).sort()).toEqual(["created_at", "id", "instance_id", "status", "target_phone", "type"]);
    const { outcome } = await client.waitForCall(call.id);
    expect(outcome?.reason).toBe("message_played");

    const answer = expected(200, await client.get(recordingOf(call.id)));
    expect(answer.headers).toMatchObject({
      "content-type": "audio/wav",
      // Bun sends what comes in pieces in chunks, whatever is said of its length.
      ...(target.runtime.name === "bun" ? {} : { "content-length": String(answer.body.length) }),
      "content-disposition": `attachment; filename="${call.id}.wav"`,
      "cache-control": "private, no-store",
      "accept-ranges": "bytes",
    });
    const { left, right, ms } = channels(answer.body);
    // The call is timed by a clock, which a busy machine looks at late; the recording by frames of 20 ms.
    expect(Math.abs(ms - outcome!.duration_ms)).toBeLessThanOrEqual(300);
    expect(await mediaOf(client, call.id)).toMatchObject({
      recording: { duration_ms: Math.round(ms), url: `${server.base}${recordingOf(call.id)}` },
    });

    // The left channel is the very thing that the callee heard, from the answer on.
    const heard = await client.heard(call.id);
    expect(left.sampleRate).toBe(heard.sampleRate);
    const common = Math.min(left.samples.length, heard.samples.length);
    expect(left.samples.subarray(0, common)).toEqual(heard.samples.subarray(0, common));
    const message = { ...left, samples: left.samples.subarray(0, (TONE.ms * left.sampleRate) / 1_000) };
    expect(toneShare(message, TONE.hz)).toBeGreaterThan(0.99);

    // The right one is what the callee pressed, half a second after the answer; nothing of the message is in it.
    const { keys, firstAtMs } = keysIn(right);
    expect(keys).toBe("1234#");
    expect(Math.abs(firstAtMs - 500)).toBeLessThanOrEqual(60);
    expect(toneShare(right, TONE.hz)).toBeLessThan(0.01);

    const size = answer.body.length;
    const part = expected(206, await client.get(recordingOf(call.id), { range: "bytes=44-1043" }));
    expect(part.headers["content-range"]).toBe(`bytes 44-1043/${size}`);
    expect(part.body.equals(answer.body.subarray(44, 1_044))).toBe(true);
    const beyond = expected(416, await client.get(recordingOf(call.id), { range: `bytes=${size}-` }));
    expect(beyond.headers["content-range"]).toBe(`bytes */${size}`);
    const head = await client.send("HEAD", recordingOf(call.id));
    expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, String(size), 0]);

    const stranger = await server.as("bob");
    for (const method of ["GET", "DELETE"])
      expect((await stranger.send(method, recordingOf(call.id))).json()).toMatchObject({ code: "call_not_found" });
    expect((await server.ask("GET", recordingOf(call.id))).status).toBe(401);

    expected(204, await client.delete(recordingOf(call.id)));
    for (const method of ["GET", "DELETE"]) {
      const gone = expected(404, await client.send(method, recordingOf(call.id)));
      expect(gone.json()).toMatchObject({ code: "recording_not_found" });
    }
    expect(await mediaOf(client, call.id)).toMatchObject({ recording: null });
    expect((await client.timeline(call.id)).at(-1)).toMatchObject({ type: "recording_deleted" });
  });

  describe("a server killed with -9 in the middle of a recorded call", () => {
    test("comes back with what was recorded until a second before", async () => {
      const client = await server.as("ada");
      const { id: instance } = await client.activeInstance();
      const { id } = await client.call(instance, { ...LONG, target: PRESSES_KEYS });
      await client.waitForCall(id, ["IN_PROGRESS"]);
      const growing = await until(
        () => client.get(recordingOf(id)),
        ({ status, body }) => status === 200 && body.length > 2.5 * 64_000,
        20_000,
        "two and a half seconds to be recorded",
      );
      expect(growing.headers["accept-ranges"]).toBe("none");
      expect(loudness(channels(growing.body).left)).toBeGreaterThan(5_000);
      await server.kill9();
      await server.start();

      const call = await client.readCall(id);
      expect(call.outcome?.reason).toBe("interrupted");
      const { left, right, ms } = channels(expected(200, await client.get(recordingOf(id))).body);
      expect(ms).toBeGreaterThan(channels(growing.body).ms - 1_100);
      expect(await mediaOf(client, id)).toMatchObject({ recording: { duration_ms: Math.round(ms) } });
      expect(toneShare(left, TONE.hz)).toBeGreaterThan(0.99);
      expect(keysIn(right).keys).toMatch(/^1234/);
    });
  });
});

onEach([ON_NODE], (target) => {
  const server = useServer(target);

  test("a call is recorded only where that was asked for, in so many words", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const wrong = expected(400, await client.postCall(instance, { recording: "yes" })).json<{ errors: unknown[] }>();
    expect(wrong.errors).toEqual([
      { pointer: "/recording", code: "type_invalid", detail: 'must be true or false, not "yes"' },
    ]);
    const { id } = await client.call(instance, { recording: false });
    await client.waitForCall(id);
    expect(expected(404, await client.get(recordingOf(id))).json()).toMatchObject({ code: "recording_not_found" });
    expect(await mediaOf(client, id)).not.toHaveProperty("recording");
  });

  test("whoever does not want to be recorded any more is not, and the call goes on", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const { id } = await client.call(instance, AUDIO);
    await client.waitForCall(id, ["IN_PROGRESS"]);
    await until(
      () => client.get(recordingOf(id)),
      ({ status }) => status === 200,
      5_000,
      "something to be recorded",
    );
    expected(204, await client.delete(recordingOf(id)));
    expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
    expected(404, await client.get(recordingOf(id)));
  });
});
