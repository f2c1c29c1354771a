import { expect, test } from "vitest";
import { tone } from "../../src/audio/tones/tone.ts";
import { ALL_TARGETS, describeEach, useServer } from "../support/server.ts";
import { expected, HELLO, until } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { countSounds, loudness, loudPart, phaseJump, toneShare, toneWav } from "../support/server-sound.ts";
import { loudSound, STREAMS, streamCall } from "../support/stream-calls.ts";

describeEach(ALL_TARGETS, (target) => {
  const server = useServer(target, { env: STREAMS });

  test.concurrent("a spoken message is heard in full", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { tts: HELLO });
    expect(await client.waitForCall(id)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "message_played", heard_ratio: 1 },
    });
    const heardSound = await client.heard(id);
    expect(loudness(heardSound)).toBeGreaterThan(300);
    const { from, to } = loudPart(heardSound);
    expect(to - from).toBeGreaterThan(heardSound.sampleRate * 0.4);
  });

  test.concurrent("an audio file is heard sample by sample", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "FIXED_AUDIO",
      target: { phoneNumber: "+12025550107" },
      audio: { audioBase64: toneWav({ ms: 2000 }).toString("base64") },
    });
    expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ms: 2000 });
    const heardSound = await client.heard(id);
    const { from, to } = loudPart(heardSound);
    const tone = { sampleRate: heardSound.sampleRate, samples: heardSound.samples.subarray(from, to) };
    expect(Math.abs((tone.samples.length * 1000) / heardSound.sampleRate - 2000)).toBeLessThanOrEqual(20);
    expect(toneShare(tone, 1000)).toBeGreaterThanOrEqual(0.99);
    expect(phaseJump(tone, 1000)).toBeLessThan(0.1);
    const digits = (await client.timeline(id)).filter(({ type }) => type === "dtmf").map(({ data }) => data.digit);
    expect(digits).toEqual(["1", "2", "3", "4", "#"]);
  });

  test.concurrent("a stored file of 300 kB is heard by two calls, one of them after its deletion", async () => {
    const client = await server.as("ada");
    const body = toneWav({ ms: 2_000, sampleRate: 75_000 });
    const headers = { "content-type": "audio/wav" };
    const { id: audioId } = expected(201, await client.send("POST", "/v1/audio?name=Tone", { headers, body })).json<{
      id: string;
    }>();
    expected(200, await client.post("/v1/audio", { audio: { audioBase64: body.toString("base64") } }));
    const order = { type: "FIXED_AUDIO", audio: { audioId } };
    const instances = [await client.activeInstance(), await client.createInstance()];
    const [first, waiting] = [await client.call(instances[0]!.id, order), await client.call(instances[1]!.id, order)];
    expected(204, await client.delete(`/v1/audio/${audioId}`));
    expected(404, await client.postCall(instances[0]!.id, order));
    await client.link(instances[1]!.id);
    for (const { id } of [first, waiting]) {
      expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ms: 2_000 });
      expect(toneShare(loudSound(await client.heard(id)), 1_000)).toBeGreaterThanOrEqual(0.99);
    }
  });

  test.concurrent("an unlinked number ends its call, and another one is linked in its place", async () => {
    const client = await server.as("ada");
    const { id } = await client.activeInstance();
    const call = await client.call(id, { target: { phoneNumber: "+12025550102" } });
    const readCall = () => client.readCall(call.id);
    await until(readCall, ({ status }) => status === "RINGING", 10_000, "a ringing phone");
    const response = expected(200, await client.send("POST", `/v1/instances/${id}/unlink`));
    expect(response.json()).toMatchObject({ id, status: "CREATED" });
    expect((await client.waitForCall(call.id)).outcome).toMatchObject({ reason: "instance_lost" });
    const waitingCall = await client.call(id);
    expect((await send("POST", await client.linkUrl(id))).status).toBe(200);
    expect(await client.waitForCall(waitingCall.id)).toMatchObject({ status: "COMPLETED" });
  });

  test.concurrent("a call to a busy number ends as busy", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { target: { phoneNumber: "+12025550101" } });
    expect(await client.waitForCall(id)).toMatchObject({ status: "FAILED", outcome: { reason: "busy" } });
  });

  test.concurrent("a live stream carries audio both ways", async () => {
    const { call, client, open, dial } = await streamCall(server, { to: "+12025550105" });
    const stream = await open();
    await stream.write(tone(1_000, 1_500, 16_000, 8_000));
    await dial();
    await stream.event("answered");
    stream.sendMessage({ type: "hangup" });
    expect(await stream.closed()).toMatchObject({ code: 1000 });
    const heardSound = loudSound(await client.heard(call.id));
    expect(toneShare(heardSound, 1_000)).toBeGreaterThan(0.97);
    expect(Math.abs(heardSound.ms - 1_500)).toBeLessThan(80);
    expect(await client.readCall(call.id)).toMatchObject({ status: "COMPLETED", outcome: { reason: "stream_closed" } });
  });

  test.concurrent("an agent asks four questions, and the callee answers by keys", async () => {
    const client = await server.as("ada");
    const questions = ["First?", "Second?", "Third?", "Fourth?"];
    const agent = { instructions: questions.map((text, index) => `Ask q${index + 1}: ${text}`) };
    const target = { phoneNumber: "+12025550112" };
    const { id } = await client.call((await client.activeInstance()).id, { type: "DYNAMIC_AGENT", target, agent });
    const endedCall = await client.waitForCall(id);
    expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "agent_finished", heard_ratio: null } });
    const { result, transcript, metrics } = expected(
      200,
      await client.get(`/v1/calls/${id}?expand=result,transcript,metrics`),
    ).json<{
      result: unknown;
      transcript: readonly { readonly speaker: string; readonly text: string }[];
      metrics: { readonly turns: readonly { readonly input: string; readonly turn_gap_ms: number | null }[] };
    }>();
    expect(result).toEqual({ q1: "1", q2: "2", q3: "1", q4: "5" });
    expect(transcript.map(({ speaker, text }) => `${speaker}: ${text}`)).toEqual([
      "caller: This is an automated call.",
      ...questions.map((text) => `caller: ${text}`),
    ]);
    expect(metrics.turns.map(({ input }) => input)).toEqual(["begin", "key", "key", "key", "key"]);
    // The next question follows each key; none follows the last one.
    const gaps = metrics.turns.map(({ turn_gap_ms }) => turn_gap_ms);
    expect(gaps).toEqual([null, ...Array(3).fill(expect.any(Number)), null]);
    expect(Math.max(...gaps.map((gap) => gap ?? 0))).toBeLessThan(2_000);
    const types = (await client.timeline(id)).map(({ type }) => type);
    expect(types.filter((type) => type !== "alerting")).toEqual([
      ...["queued", "ringing", "answered", "agent_started", "answered_by", "dtmf", "dtmf", "dtmf", "dtmf", "completed"],
    ]);
    // The callee waits almost a second before each key; the introduction and the first question are spoken together.
    expect(countSounds(await client.heard(id), 600)).toBe(questions.length);
  });

  test.concurrent("an agent call fails with its reason, without ringing", async () => {
    const client = await server.as("ada");
    const agent = { instructions: ["Greet the caller."] };
    const { id } = await client.call((await client.activeInstance()).id, { type: "DYNAMIC_AGENT", agent });
    const endedCall = await client.waitForCall(id);
    expect(endedCall).toMatchObject({ status: "FAILED", started_at: null, outcome: { reason: "agent_unavailable" } });
    expect((await client.timeline(id)).map((event) => event.type)).toEqual(["queued", "failed"]);
  });
});
