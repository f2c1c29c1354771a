import { AnotherCallActive, type CallEvent, type Client, createClient, type Instance } from "ringport/client";
import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import { rms } from "../../src/audio/samples/pcm.ts";
import { decodeWav } from "../../src/audio/wav/wav.ts";
import { SCHEMAS } from "../../src/http/views/all-shapes.ts";
import { server, TEST_URL } from "./support/server.ts";

const { client: createTestClient, link } = server();
const target = { phoneNumber: "+12025550100" };
const tts = { text: "Hello there.", voiceId: "en-US-1" };
const spokenCall = { type: "FIXED_TTS", target, tts } as const;

let client: Client;
let desk: Instance;
beforeAll(async () => {
  client = createTestClient();
  desk = await client.instances.create({ name: "Desk", metadata: { floor: 3 } });
  await link(client, desk);
}, 20_000);

describe("instances", () => {
  test("instances are created, read, configured and deleted", async () => {
    const instance = await client.instances.create({ name: "Front", metadata: { team: ["a"] } });
    expect(v.parse(SCHEMAS.Instance, instance)).toMatchObject({ name: "Front", status: "CREATED" });
    const details = await client.instances.get(instance.id);
    expect(v.parse(SCHEMAS.InstanceDetails, details)).toEqual({ ...instance, callQueue: [] });
    const { connection } = await client.instances.get(instance.id, { expand: ["connection"] });
    expect(connection?.provider).toBe("simulator");
    const code = await client.instances.configure(instance.id);
    expect(v.parse(SCHEMAS.LinkingCode, code).instanceId).toBe(instance.id);
    await client.instances.delete(instance.id);
    await expect(client.instances.get(instance.id)).rejects.toMatchObject({ code: "instance_not_found" });
  });

  test("the instance list reads all pages, newest first", async () => {
    const earlierIds = (await client.instances.page()).items.map(({ id }) => id);
    const newIds: string[] = [];
    for (let n = 1; n <= 120; n++) newIds.push((await client.instances.create({ name: `Desk ${n}` })).id);
    const expected = [...newIds.reverse(), ...earlierIds];

    const listedIds: string[] = [];
    for await (const { id } of client.instances.list()) listedIds.push(id);
    expect(listedIds).toEqual(expected);

    const first = await client.instances.page({ limit: 50 });
    expect(first.items.map(({ id }) => id)).toEqual(expected.slice(0, 50));
    const second = await client.instances.page({ limit: 50, cursor: first.next });
    expect(second.items.map(({ id }) => id)).toEqual(expected.slice(50, 100));
    expect((await client.instances.page({ cursor: second.next })).next).toBeUndefined();

    const remainingIds: string[] = [];
    for await (const { id } of client.instances.list({ limit: 7, cursor: second.next })) remainingIds.push(id);
    expect(remainingIds).toEqual(expected.slice(100));
  }, 30_000);
});

describe("calls", () => {
  test("waitForCall reports each event of a spoken call once and in order", async () => {
    const call = await client.calls.create({ instanceId: desk.id, ...spokenCall });
    expect(v.parse(SCHEMAS.CreatedCall, call).status).toBe("QUEUED");
    const progress: CallEvent[] = [];
    const endedCall = await client.waitForCall(call.id, { onProgress: (event) => void progress.push(event) });

    expect(v.parse(SCHEMAS.Call, endedCall)).toMatchObject({ id: call.id, status: "COMPLETED" });
    expect(endedCall.outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
    expect(progress).toEqual(await client.calls.events(call.id));
    expect(v.parse(SCHEMAS.EventList, progress).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["queued", "ringing", "answered", "completed"]),
    );
    expect(await client.calls.get(call.id, { expand: ["outcome"] })).toEqual(endedCall);
  }, 20_000);

  test("a failed call is a normal outcome", async () => {
    const busyCall = await client.calls.create({
      instanceId: desk.id,
      ...spokenCall,
      target: { phoneNumber: "+12025550101" },
    });
    const { status, outcome } = await client.waitForCall(busyCall.id);
    expect([status, outcome.reason]).toEqual(["FAILED", "busy"]);
    const secondResult = await client.waitForCall(busyCall.id, { timeoutMs: 5_000 });
    expect(secondResult.outcome).toEqual(outcome);
  }, 20_000);

  test("calls are filtered, paged and hung up", async () => {
    const ownInstance = await client.instances.create({ name: "Quiet" });
    const callIds: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { id } = await client.calls.create({ instanceId: ownInstance.id, ...spokenCall });
      callIds.unshift(id);
      await (n === 1 ? client.calls.delete(id) : client.calls.hangUp(id));
    }
    const filter = { instance_id: ownInstance.id, status: "FAILED", type: "FIXED_TTS", limit: 2 } as const;
    const listedIds: string[] = [];
    for await (const call of client.calls.list({ ...filter, expand: ["outcome", "media"] })) {
      listedIds.push(call.id);
      expect(call.outcome?.reason).toBe("terminated");
      expect(call.media).toEqual({ voice_id: "en-US-1", characters: tts.text.length, stream: null });
    }
    expect(listedIds).toEqual(callIds);
    const page = await client.calls.page(filter);
    expect(page.items.map(({ id }) => id)).toEqual(callIds.slice(0, 2));
    expect(await client.calls.page({ ...filter, created_after: new Date(Date.now() + 60_000).toISOString() })).toEqual({
      items: [],
      next: undefined,
    });
    await expect(client.calls.hangUp(callIds[0]!)).rejects.toMatchObject({ code: "call_not_found", status: 404 });

    const types: string[] = [];
    for await (const { type } of client.events({ instance_id: ownInstance.id, limit: 2 })) types.push(type);
    expect(types.filter((type) => type === "failed")).toHaveLength(3);
  }, 20_000);

  test("create refuses to return an active call to another number or of another type", async () => {
    const { id: instanceId } = await client.instances.create({ name: "Occupied" });
    const activeCall = await client.calls.create({ instanceId, ...spokenCall });
    const otherNumberCall = { ...spokenCall, target: { phoneNumber: "+12025550102" } };
    const streamCall = { type: "DYNAMIC_STREAM", target } as const;
    for (const input of [otherNumberCall, streamCall]) {
      const refusal = await client.calls.create({ instanceId, ...input }).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(AnotherCallActive);
      expect(refusal).toMatchObject({
        code: "another_call_active",
        status: 200,
        method: "POST",
        path: "/voice/v1/calls",
      });
      expect((refusal as AnotherCallActive).call).toEqual(activeCall);
      expect(await client.calls.place({ instanceId, ...input })).toEqual({ call: activeCall, isNew: false });
    }
    expect(await client.calls.create({ instanceId, ...spokenCall })).toEqual(activeCall);
    await client.calls.hangUp(activeCall.id);
  }, 20_000);

  test("eventPage continues from each page's cursor", async () => {
    const { id: instance_id } = await client.instances.create({ name: "Followed" });
    const first = await client.eventPage({ instance_id, limit: 1 });
    expect([first.items.map(({ type }) => type), first.next]).toEqual([["instance.created"], undefined]);
    const emptyPage = await client.eventPage({ instance_id, cursor: first.cursor });
    expect(emptyPage).toEqual({ items: [], next: undefined, cursor: first.cursor });
    const target = { phoneNumber: "+12025550100" };
    const { id } = await client.calls.create({ instanceId: instance_id, type: "DYNAMIC_STREAM", target });
    await client.calls.hangUp(id);
    const second = await client.eventPage({ instance_id, cursor: emptyPage.cursor, limit: 1 });
    expect([second.items.map(({ type }) => type), second.next]).toEqual([["queued"], second.cursor]);
    const third = await client.eventPage({ instance_id, cursor: second.cursor });
    expect([third.items.map(({ type }) => type), third.next]).toEqual([["failed"], undefined]);
  }, 20_000);
});

test("voices returns the available voices", async () => {
  const voices = await client.voices();
  expect(v.parse(SCHEMAS.VoiceList, voices).map(({ id }) => id)).toContain("en-US-1");
});

test("voiceSample returns a WAV file", async () => {
  const { sampleRate, samples } = decodeWav(await client.voiceSample("en-US-1"));
  expect(sampleRate).toBe(16_000);
  expect(rms(samples)).toBeGreaterThan(300);
  await expect(client.voiceSample("en-US-99")).rejects.toMatchObject({ code: "voice_not_found", status: 404 });
});

test("createClient refuses an invalid URL", () => {
  expect(() => createClient({ url: "127.0.0.1:8080", token: "t" })).toThrow(/url is "127.0.0.1:8080"/);
  expect(() => createClient({ url: `${TEST_URL}/`, token: "t" })).not.toThrow();
});
