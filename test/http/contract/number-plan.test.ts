import { beforeAll, describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, ID, KEYS, keysOf, sorted, TIMESTAMP } from "../../support/response-shapes.ts";
import { type CallView, type EventView, expected, type OutcomeView, until } from "../../support/server-client.ts";
import { loudness, loudPart, phaseJump, readWav, toneShare, toneWav } from "../../support/server-sound.ts";

/** Simulated callees are ten times as fast as the number plan; these two times are the minimum. */
const ENV = { RINGPORT_RING_TIMEOUT_MS: "3000", RINGPORT_MEDIA_TIMEOUT_MS: "1000" };

/** Four seconds of speech, so that the remote end has time to act. */
const LONG_MESSAGE = {
  text: "Your appointment is tomorrow at nine in the morning. Please bring the documents that you were sent last week.",
  voiceId: "en-US-1",
};

/** Outcome of a call to each number. */
const PLAN = [
  { number: "+12025550100", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550101", status: "FAILED", reason: "busy", answers: false },
  { number: "+12025550102", status: "FAILED", reason: "no_answer", answers: false },
  { number: "+12025550103", status: "FAILED", reason: "declined", answers: false },
  { number: "+12025550104", status: "COMPLETED", reason: "callee_hung_up", answers: true },
  { number: "+12025550105", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550106", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550107", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550108", status: "FAILED", reason: "number_invalid", answers: false },
  { number: "+12025550109", status: "FAILED", reason: "media_failed", answers: true },
  { number: "+12025550110", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550111", status: "FAILED", reason: "instance_lost", answers: true },
  { number: "+12025550112", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550114", status: "COMPLETED", reason: "machine_hung_up", answers: true },
  { number: "+12025550115", status: "COMPLETED", reason: "machine_hung_up", answers: true },
  { number: "+12025550120", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550121", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550122", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+12025550123", status: "COMPLETED", reason: "message_played", answers: true },
  { number: "+4930901820", status: "COMPLETED", reason: "message_played", answers: true },
] as const;

type EndedCall = CallView & { readonly outcome: OutcomeView; readonly events: readonly EventView[] };

const server = useLocalServer(ENV);

describe("the number plan", () => {
  const endedCalls = new Map<string, EndedCall>();
  beforeAll(async () => {
    const client = await server.as("ada");
    // Rendered once, so that it is ready however soon a remote end answers and hangs up.
    const firstCall = await client.call((await client.activeInstance()).id, { tts: LONG_MESSAGE });
    await client.waitForCall(firstCall.id);
    await Promise.all(
      PLAN.map(async ({ number }) => {
        const { id } = await client.activeInstance(number);
        const call = await client.call(id, { target: { phoneNumber: number }, tts: LONG_MESSAGE });
        const endedCall = await client.waitForCall(call.id);
        endedCalls.set(number, { ...endedCall, outcome: endedCall.outcome!, events: await client.timeline(call.id) });
      }),
    );
  });
  const callTo = (number: string): EndedCall => endedCalls.get(number)!;

  test.for(PLAN)("a call to $number ends $status/$reason", ({ number, status, reason, answers }) => {
    const call = callTo(number);
    expect(call).toMatchObject({ status, target_phone: number, outcome: { reason } });
    expect(keysOf(call.outcome)).toEqual(sorted(KEYS.outcome));
    expect(call.ended_at).toMatch(TIMESTAMP);
    const { heard_ms, heard_ratio, duration_ms } = call.outcome;
    if (answers) {
      expect(call.started_at).toMatch(TIMESTAMP);
      const lengthMs = Date.parse(call.ended_at!) - Date.parse(call.started_at!);
      expect(Math.abs(duration_ms - lengthMs)).toBeLessThanOrEqual(100);
      // No person hears a message played to a fax machine or a busy tone.
      if (reason === "machine_hung_up") expect(heard_ms).toBe(0);
      else expect(heard_ms).toBeGreaterThan(0);
      expect(heard_ms).toBeLessThanOrEqual(duration_ms + 60);
    } else {
      expect(call.started_at).toBeNull();
      expect({ heard_ms, heard_ratio, duration_ms }).toEqual({ heard_ms: 0, heard_ratio: 0, duration_ms: 0 });
    }
    if (reason === "message_played") expect(heard_ratio).toBe(1);
    else if (reason === "media_failed")
      expect(heard_ratio).toBeNull(); // no sign that any audio was received
    else expect(heard_ratio).toBeLessThan(1);
  });

  test.for(PLAN)("a call to $number has an ordered timeline with one end", ({ number, status, answers }) => {
    const { id, events } = callTo(number);
    const types = events.map(({ type }) => type);
    const mainTypes = types.filter((type) => ["queued", "ringing", "answered", "completed", "failed"].includes(type));
    const end = status === "COMPLETED" ? "completed" : "failed";
    expect(mainTypes).toEqual(["queued", "ringing", ...(answers ? ["answered"] : []), end]);
    expect(types.at(-1)).toBe(end);
    expect(events.map((event) => event.id)).toEqual(sorted(events.map((event) => event.id)));
    const times = events.map(({ timestamp }) => timestamp);
    expect(times).toEqual(sorted(times));
    for (const event of events) {
      expect(keysOf(event)).toEqual(sorted(KEYS.event));
      expect(event.call_id).toBe(id);
      expect(event.id).toMatch(ID.event);
    }
  });

  test("the timeline and the call agree on the times of answer and end", () => {
    const { created_at, started_at, ended_at, events } = callTo("+12025550100");
    const timeOf = (type: string) => events.find((event) => event.type === type)?.timestamp;
    expect(timeOf("answered")).toBe(started_at);
    expect(timeOf("completed")).toBe(ended_at);
    expect(created_at <= timeOf("ringing")! && timeOf("ringing")! <= started_at! && started_at! <= ended_at!).toBe(
      true,
    );
  });

  test("the callee's keys are events, in order", () => {
    const { events } = callTo("+12025550107");
    const digits = events.filter(({ type }) => type === "dtmf").map(({ data }) => data.digit);
    expect(digits).toEqual(["1", "2", "3", "4", "#"]);
  });

  test("the callee's speech is an event with start and end", () => {
    const { events } = callTo("+12025550106");
    const speech = events.filter(({ type }) => type === "callee_speech");
    expect(speech.length).toBeGreaterThan(0);
    for (const { data } of speech) {
      expect(keysOf(data)).toEqual(["end_ms", "start_ms"]);
      expect(data.start_ms).toBeGreaterThanOrEqual(0);
      expect(data.end_ms).toBeGreaterThan(data.start_ms as number);
    }
    const speechMs = speech.reduce((sum, { data }) => sum + (data.end_ms as number) - (data.start_ms as number), 0);
    expect(speechMs).toBeGreaterThan(500);
    expect(callTo("+12025550100").events.map(({ type }) => type)).not.toContain("callee_speech");
  });

  test("heard.wav exists for answered calls only", async () => {
    const client = await server.as("ada");
    for (const { number, answers } of PLAN) {
      const response = await client.get(`/simulator/calls/${callTo(number).id}/heard.wav`);
      if (!answers) expectProblem(response, 404, response.json().code as string);
      else expect(loudness(readWav(expected(200, response).body))).toBeGreaterThan(100);
    }
  });
});

describe.concurrent("the audio that the callee hears", () => {
  /** Rings for a second, so that the message is ready when it answers, however busy this machine is. */
  const target = { phoneNumber: "+12025550110" };

  test("a spoken message starts immediately and is as long as its outcome states", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { target });
    const { outcome } = await client.waitForCall(id);
    const heardSound = await client.heard(id);
    expect(heardSound.sampleRate).toBe(16_000);
    const ms = (samples: number) => (samples * 1000) / heardSound.sampleRate;
    expect(Math.abs(ms(heardSound.samples.length) - outcome!.duration_ms)).toBeLessThanOrEqual(100);
    const { from, to } = loudPart(heardSound);
    expect(ms(from)).toBeLessThan(300); // speech itself starts softly
    expect(ms(to)).toBeLessThanOrEqual(outcome!.heard_ms! + 20);
    expect(ms(heardSound.samples.length) - ms(to)).toBeGreaterThanOrEqual(250); // the tail
  });

  test("every sample of an audio file is heard, starting within 50 ms", async () => {
    const client = await server.as("ada");
    const file = toneWav({ hz: 1000, ms: 1500, amplitude: 10_000 });
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "FIXED_AUDIO",
      target,
      audio: { audioBase64: file.toString("base64") },
    });
    const { status, outcome } = await client.waitForCall(id);
    expect({ status, ...outcome }).toMatchObject({ status: "COMPLETED", heard_ms: 1500, heard_ratio: 1 });
    const heardSound = await client.heard(id);
    const { from, to } = loudPart(heardSound);
    expect((from * 1000) / heardSound.sampleRate).toBeLessThanOrEqual(50);
    const tone = { sampleRate: heardSound.sampleRate, samples: heardSound.samples.subarray(from, to) };
    expect(Math.abs((tone.samples.length * 1000) / heardSound.sampleRate - 1500)).toBeLessThanOrEqual(20);
    expect(toneShare(tone, 1000)).toBeGreaterThanOrEqual(0.99);
    expect(phaseJump(tone, 1000)).toBeLessThan(0.1);
    expect(Math.abs(loudness(tone) / (10_000 / Math.SQRT2) - 1)).toBeLessThan(0.05);
  });

  test.each([
    ["cut off", 100_000, true],
    ["of unknown length", 0x7fff_0000, false],
  ])("a file that is %s is played to its end", async (_, claimedBytes, isCutOff) => {
    const client = await server.as("ada");
    const file = toneWav({ ms: 600, claimedBytes });
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "FIXED_AUDIO",
      audio: { audioBase64: file.toString("base64") },
    });
    expect((await client.waitForCall(id)).outcome).toMatchObject({ reason: "message_played", heard_ms: 600 });
    expect((await client.timeline(id)).some(({ type }) => type === "audio_truncated")).toBe(isCutOff);
  });

  test("heard.wav is readable by its owner only, after the call", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { tts: LONG_MESSAGE });
    const path = `/simulator/calls/${id}/heard.wav`;
    await client.waitForCall(id, ["IN_PROGRESS"]);
    const earlyResponse = await client.get(path);
    expect([404, 409]).toContain(earlyResponse.status);
    expect((await client.delete(`/v1/calls/${id}`)).status).toBe(204);
    const response = await until(
      () => client.get(path),
      ({ status }) => status === 200,
      2_000,
      "the recording of an ended call",
    );
    expect(response.headers["content-type"]).toMatch(/^audio\/(x-)?wav/);
    readWav(response.body);
    expectProblem(await (await server.as("eve")).get(path), 404, "call_not_found");
    expectProblem(await server.client().get(path), 401, "unauthorized");
    for (const name of ["other.wav", "heard.mp3", "..%2f..%2fsecret.key", "%2e%2e%2fringport.sqlite"])
      expect({ name, status: (await client.get(`/simulator/calls/${id}/${name}`)).status }).toEqual({
        name,
        status: 404,
      });
  });
});

describe.concurrent("a live call", () => {
  test("the status is QUEUED, RINGING, IN_PROGRESS, COMPLETED", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const { id } = await client.call(instance, { target: { phoneNumber: "+12025550110" } });
    const statuses: string[] = [];
    await until(
      async () => {
        const { status } = await client.readCall(id);
        if (statuses.at(-1) !== status) statuses.push(status);
        return status;
      },
      (status) => status === "COMPLETED",
      20_000,
      "the end of the call",
    );
    const order = ["QUEUED", "RINGING", "IN_PROGRESS", "COMPLETED"];
    expect(statuses).toEqual(order.filter((status) => statuses.includes(status)));
    expect(statuses).toEqual(expect.arrayContaining(["RINGING", "IN_PROGRESS", "COMPLETED"]));
    expect((await client.instance(instance)).callQueue).toEqual([]);
  });

  test.for([
    ["while it rings", "+12025550102", "RINGING"],
    ["while it plays its message", "+12025550100", "IN_PROGRESS"],
  ] as const)("DELETE %s ends the call, and the instance calls again", async ([, phoneNumber, status]) => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const { id } = await client.call(instance, { target: { phoneNumber }, tts: LONG_MESSAGE });
    await client.waitForCall(id, [status]);
    const [item] = (await client.instance(instance)).callQueue ?? [];
    expect(item).toMatchObject({ id, status });
    expect((await client.postCall(instance)).json<CallView>().id).toBe(id);
    expect((await client.delete(`/v1/calls/${id}`)).status).toBe(204);
    const endedCall = await client.readCall(id);
    expect(endedCall).toMatchObject({ status: "FAILED", outcome: { reason: "terminated" } });
    expectProblem(await client.delete(`/v1/calls/${id}`), 404, "call_not_found");
    const nextCall = await client.call(instance);
    expect(await client.waitForCall(nextCall.id)).toMatchObject({ status: "COMPLETED" });
    expect((await client.timeline(id)).at(-1)).toMatchObject({ type: "failed", data: { reason: "terminated" } });
  });

  test("a call ends FAILED/instance_deleted with its instance", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.activeInstance();
    const { id } = await client.call(instance, { tts: LONG_MESSAGE });
    await client.waitForCall(id, ["IN_PROGRESS"]);
    expect((await client.delete(`/v1/instances/${instance}`)).status).toBe(204);
    expect(await client.readCall(id)).toMatchObject({ status: "FAILED", outcome: { reason: "instance_deleted" } });
  });

  test("a call waits until its instance is linked", async () => {
    const client = await server.as("ada");
    const { id: instance } = await client.createInstance();
    const { id } = await client.call(instance);
    expect((await client.readCall(id)).status).toBe("QUEUED");
    await client.link(instance);
    expect(await client.waitForCall(id)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "message_played" },
    });
  });

  test("a call does not delay calls of other instances", async () => {
    const client = await server.as("ada");
    const [slowInstance, quickInstance] = [await client.activeInstance(), await client.activeInstance()];
    const longCall = await client.call(slowInstance.id, { tts: LONG_MESSAGE });
    await client.waitForCall(longCall.id, ["IN_PROGRESS"]);
    const otherCall = await client.call(quickInstance.id, { target: { phoneNumber: "+12025550101" } });
    await client.waitForCall(otherCall.id);
    expect((await client.readCall(longCall.id)).status).toBe("IN_PROGRESS");
    await client.delete(`/v1/calls/${longCall.id}`);
  });
});

test.for([
  ["DYNAMIC_STREAM", {}, "stream_unavailable"],
  ["DYNAMIC_AGENT", { agent: { instructions: ["Greet the caller."] } }, "agent_unavailable"],
] as const)("a %s call fails immediately, without ringing", async ([type, fields, reason]) => {
  const client = await server.as("ada");
  const { id } = await client.call((await client.activeInstance()).id, { type, ...fields });
  const endedCall = await client.waitForCall(id);
  expect(endedCall).toMatchObject({ status: "FAILED", started_at: null, outcome: { reason } });
  expect(endedCall.outcome?.detail).toBeTruthy();
  expect((await client.timeline(id)).map((event) => event.type)).toEqual(["queued", "failed"]);
});
