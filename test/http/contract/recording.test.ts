import { expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expected, until } from "../../support/server-client.ts";
import { channels, keysIn, mediaOf, recordingOf } from "../../support/server-recordings.ts";
import { toneShare, toneWav } from "../../support/server-sound.ts";

const TONE = { hz: 1_000, ms: 2_500 };
const AUDIO = { type: "FIXED_AUDIO", audio: { audioBase64: toneWav(TONE).toString("base64") }, recording: true };
/** Presses 1 2 3 4 # half a second after it has answered. */
const PRESSES_KEYS = { phoneNumber: "+12025550107" };

const server = useLocalServer({ RINGPORT_SIMULATOR_TIME_SCALE: "1" });

test("a recording has both sides in time, and can be deleted", async () => {
  const client = await server.as("ada");
  const { id: instance } = await client.activeInstance();
  const call = await client.call(instance, { ...AUDIO, target: PRESSES_KEYS });
  expect(Object.keys(call).sort()).toEqual(["created_at", "id", "instance_id", "status", "target_phone", "type"]);
  const { outcome } = await client.waitForCall(call.id);
  expect(outcome?.reason).toBe("message_played");

  const response = expected(200, await client.get(recordingOf(call.id)));
  expect(response.headers).toMatchObject({
    "content-type": "audio/wav",
    "content-length": String(response.body.length),
    "content-disposition": `attachment; filename="${call.id}.wav"`,
    "cache-control": "private, no-store",
    "accept-ranges": "bytes",
  });
  const { left, right, ms } = channels(response.body);
  // The call's times come from a clock, which a busy machine reads late; the recording's come from 20 ms frames.
  expect(Math.abs(ms - outcome!.duration_ms)).toBeLessThanOrEqual(300);
  expect(await mediaOf(client, call.id)).toMatchObject({
    recording: { duration_ms: Math.round(ms), url: `${server.base}${recordingOf(call.id)}` },
  });

  // The left channel is exactly the audio that the callee heard, from the answer on.
  const heard = await client.heard(call.id);
  expect(left.sampleRate).toBe(heard.sampleRate);
  const commonLength = Math.min(left.samples.length, heard.samples.length);
  expect(left.samples.subarray(0, commonLength)).toEqual(heard.samples.subarray(0, commonLength));
  const message = { ...left, samples: left.samples.subarray(0, (TONE.ms * left.sampleRate) / 1_000) };
  expect(toneShare(message, TONE.hz)).toBeGreaterThan(0.99);

  // The right channel has the callee's keys, half a second after the answer; no part of the message is in it.
  const { keys, firstAtMs } = keysIn(right);
  expect(keys).toBe("1234#");
  expect(Math.abs(firstAtMs - 500)).toBeLessThanOrEqual(60);
  expect(toneShare(right, TONE.hz)).toBeLessThan(0.01);

  const size = response.body.length;
  const partialResponse = expected(206, await client.get(recordingOf(call.id), { range: "bytes=44-1043" }));
  expect(partialResponse.headers["content-range"]).toBe(`bytes 44-1043/${size}`);
  expect(partialResponse.body.equals(response.body.subarray(44, 1_044))).toBe(true);
  const rangeResponse = expected(416, await client.get(recordingOf(call.id), { range: `bytes=${size}-` }));
  expect(rangeResponse.headers["content-range"]).toBe(`bytes */${size}`);
  const head = await client.send("HEAD", recordingOf(call.id));
  expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, String(size), 0]);

  const otherUser = await server.as("bob");
  for (const method of ["GET", "DELETE"])
    expect((await otherUser.send(method, recordingOf(call.id))).json()).toMatchObject({ code: "call_not_found" });
  expect((await server.request("GET", recordingOf(call.id))).status).toBe(401);

  expected(204, await client.delete(recordingOf(call.id)));
  for (const method of ["GET", "DELETE"]) {
    const problem = expected(404, await client.send(method, recordingOf(call.id)));
    expect(problem.json()).toMatchObject({ code: "recording_not_found" });
  }
  expect(await mediaOf(client, call.id)).toMatchObject({ recording: null });
  expect((await client.timeline(call.id)).at(-1)).toMatchObject({ type: "recording_deleted" });
});

test("a call is recorded only if recording is true", async () => {
  const client = await server.as("ada");
  const { id: instance } = await client.activeInstance();
  const problem = expected(400, await client.postCall(instance, { recording: "yes" })).json<{ errors: unknown[] }>();
  expect(problem.errors).toEqual([
    { pointer: "/recording", code: "type_invalid", detail: 'must be true or false, not "yes"' },
  ]);
  const { id } = await client.call(instance, { recording: false });
  await client.waitForCall(id);
  expect(expected(404, await client.get(recordingOf(id))).json()).toMatchObject({ code: "recording_not_found" });
  expect(await mediaOf(client, id)).not.toHaveProperty("recording");
});

test("deleting the recording of a live call stops it; the call continues", async () => {
  const client = await server.as("ada");
  const { id: instance } = await client.activeInstance();
  const { id } = await client.call(instance, AUDIO);
  await client.waitForCall(id, ["IN_PROGRESS"]);
  await until(
    () => client.get(recordingOf(id)),
    ({ status }) => status === 200,
    5_000,
    "the start of the recording",
  );
  expected(204, await client.delete(recordingOf(id)));
  expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
  expected(404, await client.get(recordingOf(id)));
});
