import { expect, test, vi } from "vitest";
import { sha256OfBytes } from "../../../src/base/sha256.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { UploadedAudio } from "../../../src/domain/calls/audio-input.ts";
import type { CreateCallInput } from "../../../src/domain/calls/call-input.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import { ALICE, audioFile, BOB, NUMBER, World } from "../../support/application.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const speech = (instance: Instance, text = "Hello"): CreateCallInput => ({
  instanceId: instance.id,
  type: "FIXED_TTS",
  target: { phoneNumber: NUMBER },
  tts: { text, voiceId: "en-US-1" },
});

test("the same key and body return the first response, even after the call", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  const options = { idempotencyKey: "booking-17" };
  const first = await world.app.calls.create(ALICE, speech(instance), options);
  await world.system.settle();
  world.leg(first).end("busy");
  await world.system.settle();
  const replay = await world.app.calls.create(ALICE, speech(instance), options);
  expect(replay).toEqual({ ...first, replayed: true });
  expect(first).toMatchObject({ status: "QUEUED", created: true, replayed: false });
  expect(world.network.legs).toHaveLength(1);
  await world.stop();
});

test("a key is kept for a day after a start that followed downtime", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  await world.system.advance(2 * HOUR_MS);
  world.system.jump(2 * DAY_MS);
  const restartedWorld = await world.crashAndRestart();
  await restartedWorld.system.advance(DAY_MS - 15_000);
  const options = { idempotencyKey: "booking-17" };
  const first = await restartedWorld.app.calls.create(ALICE, speech(instance), options);
  await restartedWorld.system.settle();
  restartedWorld.leg(first).end("busy");
  await restartedWorld.system.advance(30_000); // the purge clock follows the wall clock now
  expect(restartedWorld.context.purgeClock.now()).toBe(restartedWorld.system.now());
  expect(await restartedWorld.app.calls.create(ALICE, speech(instance), options)).toMatchObject({
    id: first.id,
    replayed: true,
  });
  await restartedWorld.system.settle();
  expect(restartedWorld.network.legs).toHaveLength(1);
  const next = await restartedWorld.crashAndRestart();
  await next.system.advance(DAY_MS - HOUR_MS);
  expect(await next.app.calls.create(ALICE, speech(instance), options)).toMatchObject({ id: first.id, replayed: true });
  await next.system.advance(2 * HOUR_MS);
  expect(await next.app.calls.create(ALICE, speech(instance), options)).toMatchObject({ replayed: false });
  await next.stop();
});

test("concurrent requests under one key create one call", async () => {
  const world = await World.start({ policy: { kind: "fifo", depth: 100 } });
  const instance = await world.newInstance();
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => world.app.calls.create(ALICE, speech(instance), { idempotencyKey: "k" })),
  );
  const createdCalls = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(new Set(createdCalls.map((call) => call.id)).size).toBe(1);
  for (const result of results)
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "idempotency_key_in_progress" });
  expect(await world.app.calls.list(ALICE)).toHaveLength(1);
  await world.stop();
});

test("the same key with another body is refused", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const options = { idempotencyKey: "k" };
  await world.app.calls.create(ALICE, speech(instance), options);
  await expect(world.app.calls.create(ALICE, speech(instance, "Bye"), options)).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  await expect(world.app.instances.create(ALICE, { name: "Kitchen" }, options)).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  await world.stop();
});

test("a key belongs to its user", async () => {
  const world = await World.start();
  const options = { idempotencyKey: "k" };
  const aliceInstance = await world.app.instances.create(ALICE, { name: "Kitchen" }, options);
  const bobInstance = await world.app.instances.create(BOB, { name: "Kitchen" }, options);
  expect(bobInstance.id).not.toBe(aliceInstance.id);
  expect(bobInstance.replayed).toBe(false);
  await world.stop();
});

test("a demo token has its own keys, one set per instance", async () => {
  const world = await World.start();
  const [aliceInstance, kitchen, bar] = [
    await world.newInstance(),
    await world.newInstance(),
    await world.newInstance(),
  ];
  const options = { idempotencyKey: "k" };
  const demoOf = ({ id }: Instance): Principal => ({ ...ALICE, demoInstanceId: id });
  const create = (principal: Principal, instance: Instance) =>
    world.app.calls.create(principal, speech(instance), options);
  const first = await create(demoOf(kitchen), kitchen);
  expect(await create(ALICE, aliceInstance)).toMatchObject({ instanceId: aliceInstance.id, replayed: false });
  expect(await create(demoOf(bar), bar)).toMatchObject({ instanceId: bar.id, replayed: false });
  expect(await create(demoOf(kitchen), kitchen)).toMatchObject({ id: first.id, replayed: true });
  await expect(create(demoOf(kitchen), aliceInstance)).rejects.toMatchObject({ code: "idempotency_key_reused" });
  await world.stop();
});

test("a demo token never gets another instance's response", async () => {
  const world = await World.start();
  const [aliceInstance, kitchen] = [await world.newInstance(), await world.newInstance()];
  const options = { idempotencyKey: "k" };
  await world.app.calls.create(ALICE, speech(aliceInstance), options);
  const demo = { ...ALICE, demoInstanceId: kitchen.id };
  await expect(world.app.calls.create(demo, speech(aliceInstance), options)).rejects.toMatchObject({
    code: "demo_token_restricted",
  });
  await world.stop();
});

test("a demo token's running request holds none of its user's keys", async () => {
  const world = await World.start();
  const [aliceInstance, kitchen] = [await world.newInstance(), await world.newInstance()];
  const options = { idempotencyKey: "k" };
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.storage.before = (operation) => (operation === "calls.insert" ? gate : undefined);
  const pendingCall = world.app.calls.create({ ...ALICE, demoInstanceId: kitchen.id }, speech(kitchen), options);
  await vi.waitFor(() => expect(world.storage.pendingCount).toBe(1));
  world.storage.before = () => {};
  expect(await world.app.calls.create(ALICE, speech(aliceInstance), options)).toMatchObject({ created: true });
  release();
  expect(await pendingCall).toMatchObject({ created: true });
  await world.stop();
});

test("a request under a key in progress is refused", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const options = { idempotencyKey: "k" };
  let release = () => {};
  world.storage.before = (operation) => {
    if (operation !== "calls.insert") return;
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  const pendingCall = world.app.calls.create(ALICE, speech(instance), options);
  while (!world.storage.operations.includes("calls.active")) await world.system.settle();
  await world.system.settle();
  await expect(world.app.calls.create(ALICE, speech(instance), options)).rejects.toMatchObject({
    code: "idempotency_key_in_progress",
  });
  release();
  const { id } = await pendingCall;
  expect(await world.app.calls.create(ALICE, speech(instance), options)).toMatchObject({ id, replayed: true });
  await world.stop();
});

test("a refused request leaves its key free", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const options = { idempotencyKey: "k" };
  const brokenInput: CreateCallInput = {
    instanceId: instance.id,
    type: "FIXED_AUDIO",
    target: { phoneNumber: NUMBER },
    audio: { audioBase64: btoa("nonsense") },
  };
  await expect(world.app.calls.create(ALICE, brokenInput, options)).rejects.toMatchObject({
    code: "audio_unsupported",
  });
  const validInput = { ...brokenInput, audio: { audioBase64: audioFile(1) } };
  expect(await world.app.calls.create(ALICE, validInput, options)).toMatchObject({ created: true, replayed: false });
  await world.stop();
});

test("an unstored request frees its key", async () => {
  const world = await World.start();
  const instance = await world.activeInstance();
  const options = { idempotencyKey: "k" };
  world.storage.before = (operation) => {
    if (operation === "calls.insert") world.storage.isDown = true;
  };
  const refusal = world.app.calls.create(ALICE, speech(instance), options);
  await expect(refusal).rejects.toMatchObject({ name: "StorageUnavailable" });
  await world.system.advance(20_000);
  world.storage.before = () => {};
  world.storage.isDown = false;
  await world.system.advance(5_000);
  expect(await world.app.calls.create(ALICE, speech(instance), options)).toMatchObject({ created: true });
  await world.stop();
});

test("an existing call's response frees the key", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const first = await world.call(instance);
  const options = { idempotencyKey: "k" };
  for (let i = 0; i < 2; i++)
    expect(await world.app.calls.create(ALICE, speech(instance, `Hello ${i}`), options)).toMatchObject({
      id: first.id,
      created: false,
      replayed: false,
    });
  await world.app.calls.hangUp(ALICE, first.id);
  const { id } = await world.app.calls.create(ALICE, speech(instance), options);
  expect(id).not.toBe(first.id);
  expect(await world.app.calls.create(ALICE, speech(instance), options)).toMatchObject({ id, replayed: true });
  await world.stop();
});

test("a request that creates no record does not write", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const deletedInstance = await world.newInstance();
  await world.app.instances.delete(ALICE, deletedInstance.id);
  await world.call(instance);
  await world.system.settle();
  const before = world.storage.writes.length;
  for (let i = 0; i < 20; i++) {
    const options = { idempotencyKey: `key ${i}`.replace(" ", "-") };
    await world.app.calls.create(ALICE, speech(instance), options);
    await expect(world.app.calls.create(ALICE, speech(deletedInstance), options)).rejects.toMatchObject({
      code: "instance_not_found",
    });
  }
  expect(world.storage.writes.slice(before)).toEqual([]);
  await world.stop();
});

test("a replay is exact after changes", async () => {
  const world = await World.start({ policy: { kind: "fifo", depth: 5 } });
  const options = { idempotencyKey: "instance" };
  const metadata = { floor: 3, odd: "\0\ud800" };
  const first = await world.app.instances.create(ALICE, { name: "Kitchen", metadata }, options);
  const call = { ...speech(first), reference: "order 7", metadata, recording: true } as CreateCallInput;
  const placedCall = await world.app.calls.create(ALICE, call, { idempotencyKey: "call" });
  await world.app.instances.update(ALICE, first.id, { name: "Bar", metadata: {}, callerId: null } as never);
  await world.app.calls.hangUp(ALICE, placedCall.id);
  await world.app.instances.delete(ALICE, first.id);
  expect(await world.app.instances.create(ALICE, { metadata, name: "Kitchen" }, options)).toEqual({
    ...first,
    replayed: true,
  });
  expect(await world.app.calls.create(ALICE, call, { idempotencyKey: "call" })).toEqual({
    ...placedCall,
    replayed: true,
  });
  await world.stop();
});

test("an erased call's key places no call", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const options = { idempotencyKey: "k" };
  const { id } = await world.app.calls.create(ALICE, speech(instance), options);
  await world.app.erase(NUMBER);
  await expect(world.app.calls.create(ALICE, speech(instance), options)).rejects.toMatchObject({
    code: "call_not_found",
    message: `the key "k" created call "${id}", which has been deleted; use a new key`,
  });
  expect(await world.app.calls.list(ALICE)).toEqual([]);
  expect(await world.app.calls.create(ALICE, speech(instance), { idempotencyKey: "k2" })).toMatchObject({
    created: true,
  });
  await world.stop();
});

test("a key survives a crash", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const call = await world.app.calls.create(ALICE, speech(instance), { idempotencyKey: "done" });
  const restartedWorld = await world.crashAndRestart();
  expect(await restartedWorld.app.calls.create(ALICE, speech(instance), { idempotencyKey: "done" })).toMatchObject({
    id: call.id,
    replayed: true,
  });
  await restartedWorld.stop();
});

test("a key expires after a day", async () => {
  const world = await World.start();
  const options = { idempotencyKey: "k" };
  const first = await world.app.instances.create(ALICE, { name: "Kitchen" }, options);
  await world.system.advance(24 * 3_600_000 - 1);
  expect((await world.app.instances.create(ALICE, { name: "Kitchen" }, options)).id).toBe(first.id);
  await world.system.advance(2);
  expect((await world.app.instances.create(ALICE, { name: "Kitchen" }, options)).id).not.toBe(first.id);
  await world.stop();
});

test.each(["", " ", "a b", "é", "x".repeat(256)])("the key %j is refused", async (idempotencyKey) => {
  const world = await World.start();
  await expect(world.app.instances.create(ALICE, { name: "Kitchen" }, { idempotencyKey })).rejects.toMatchObject({
    code: "idempotency_key_invalid",
  });
  await world.stop();
});

test("a file makes the same request as base64, data URL or decoded bytes", async () => {
  const world = await World.start({ policy: { kind: "fifo", depth: 100 } });
  const instance = await world.newInstance();
  const options = { idempotencyKey: "k" };
  const text = audioFile(1);
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const upload = (audioBase64: unknown) =>
    world.app.calls.create(
      ALICE,
      {
        instanceId: instance.id,
        type: "FIXED_AUDIO",
        target: { phoneNumber: NUMBER },
        audio: { audioBase64 },
      } as never,
      options,
    );
  const { id } = await upload(text);
  expect(await upload(`data:audio/wav;base64,${text}`)).toMatchObject({ id, replayed: true });
  const decodedAudio = new UploadedAudio(bytes, await sha256OfBytes(bytes));
  expect(await upload(decodedAudio)).toMatchObject({ id, replayed: true });
  await expect(upload(audioFile(2))).rejects.toMatchObject({ code: "idempotency_key_reused" });
  await world.stop();
});

test("another call type's fields do not affect the key", async () => {
  const world = await World.start();
  const instance = await world.newInstance();
  const stream = { instanceId: instance.id, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER } } as const;
  const options = { idempotencyKey: "k" };
  const toJson = vi.fn(() => "long");
  const { id } = await world.app.calls.create(ALICE, { ...stream, tts: { toJSON: toJson } } as never, options);
  expect(toJson).not.toHaveBeenCalled();
  expect(await world.app.calls.create(ALICE, stream, options)).toMatchObject({ id, replayed: true });
  await world.stop();
});
