import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ALICE, audioFile, BOB, decoder, NUMBER, World } from "../support/application.ts";
import { batchOf, CALLEE_NUMBERS, startWithCallees } from "./batches/callees.ts";

const DAY_MS = 86_400_000;
const FILE = { audio: { audioBase64: audioFile(2) } };

let world: World;
beforeEach(async () => {
  world = await World.start({ policy: { kind: "fifo", depth: 100 } });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.stop();
});

const callWith = (instance: { readonly id: string }, audioId: string) =>
  ({
    instanceId: instance.id,
    type: "FIXED_AUDIO",
    target: { phoneNumber: NUMBER },
    audio: { audioId },
  }) as const;

describe("stored audio files", () => {
  test("are checked, and seen only by their user", async () => {
    const { audio } = world.app;
    const file = await audio.create(ALICE, { ...FILE, name: " Greeting " });
    expect(file).toMatchObject({
      ...{ name: "Greeting", size: 5, expiresAt: null, created: true, replayed: false },
      file: { format: "wav", durationMs: 2_000, truncated: false },
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { created: _, replayed: __, ...record } = file;
    expect(await audio.get(ALICE, file.id)).toEqual(record);
    expect(await audio.list(ALICE)).toEqual([record]);
    expect(await audio.list(BOB)).toEqual([]);
    for (const request of [audio.get(BOB, file.id), audio.delete(BOB, file.id), audio.get(ALICE, "audio_1")])
      await expect(request).rejects.toMatchObject({ code: "audio_not_found" });
    await audio.delete(ALICE, file.id);
    await expect(audio.delete(ALICE, file.id)).rejects.toMatchObject({ code: "audio_not_found" });
    await expect(audio.create(ALICE, { audio: { audioBase64: btoa("no sound") } })).rejects.toMatchObject({
      code: "audio_unsupported",
      errors: [{ pointer: "/audio/audioBase64" }],
    });
    await expect(audio.create(ALICE, { ...FILE, expiresInMs: 0 })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("are stored once per content, and expire at the later time", async () => {
    const { audio } = world.app;
    const first = await audio.create(ALICE, { ...FILE, expiresInMs: DAY_MS });
    const second = await audio.create(ALICE, { ...FILE, expiresInMs: 2 * DAY_MS });
    expect(second).toMatchObject({ id: first.id, created: false, expiresAt: world.system.now() + 2 * DAY_MS });
    expect((await audio.create(BOB, FILE)).id).not.toBe(first.id);
    await world.system.advance(DAY_MS);
    expect((await audio.get(ALICE, first.id)).id).toBe(first.id);
    await world.system.advance(DAY_MS);
    await expect(audio.get(ALICE, first.id)).rejects.toMatchObject({ code: "audio_not_found" });
    expect(await world.storage.audio.get(first.id)).toBeUndefined(); // purged within an hour
    expect((await audio.create(ALICE, FILE)).id).not.toBe(first.id);
  });

  test("are limited", async () => {
    const small = await World.start({ limits: { audioFilesPerUser: 1 } });
    await small.app.audio.create(ALICE, FILE);
    expect(await small.app.audio.create(ALICE, FILE)).toMatchObject({ created: false });
    await expect(small.app.audio.create(ALICE, { audio: { audioBase64: audioFile(3) } })).rejects.toMatchObject({
      code: "audio_quota",
      message: "you have 1 audio files, and this server allows 1; delete one first",
    });
    await small.stop();
    const tight = await World.start({ limits: { storedBytesPerUser: 100 } });
    await expect(tight.app.audio.create(ALICE, FILE)).rejects.toMatchObject({ code: "storage_quota" });
    await tight.stop();
  });

  test("are closed to demo tokens", async () => {
    const { audio, calls } = world.app;
    const { id } = await audio.create(ALICE, FILE);
    const instance = await world.newInstance();
    const demo = { ...ALICE, demoInstanceId: instance.id };
    const requests = [
      ...[audio.create(demo, FILE), audio.get(demo, id), audio.list(demo), audio.delete(demo, id)],
      calls.create(demo, callWith(instance, id)),
    ];
    for (const request of requests) await expect(request).rejects.toMatchObject({ code: "demo_token_restricted" });
  });

  test("are stored once per idempotency key", async () => {
    const { audio } = world.app;
    const options = { idempotencyKey: "k" };
    const first = await audio.create(ALICE, FILE, options);
    expect(await audio.create(ALICE, FILE, options)).toEqual({ ...first, replayed: true });
    await expect(audio.create(ALICE, { ...FILE, name: "b" }, options)).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
    await audio.delete(ALICE, first.id);
    await expect(audio.create(ALICE, FILE, options)).rejects.toMatchObject({ code: "audio_not_found" });
  });
});

describe("a call with a stored audio file", () => {
  test("plays it, without checking or storing it again", async () => {
    const instance = await world.activeInstance();
    const { id: audioId, sha256 } = await world.app.audio.create(ALICE, FILE);
    const inspect = vi.spyOn(decoder, "inspect");
    const files: unknown[] = [];
    world.storage.before = (operation, args) => {
      if (operation === "calls.insert") files.push(args[1]);
    };
    const call = await world.app.calls.create(ALICE, callWith(instance, audioId));
    expect(call.message).toMatchObject({ type: "FIXED_AUDIO", audioId, sha256, durationMs: 2_000 });
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(3_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardMs: 2_000 });
    expect(inspect).not.toHaveBeenCalled();
    expect(files).toEqual([undefined]);
    expect(await world.app.audio.get(ALICE, audioId)).toMatchObject({ id: audioId });
  });

  test("plays it even if it was deleted after the call was accepted", async () => {
    const instance = await world.newInstance();
    const { id: audioId } = await world.app.audio.create(ALICE, FILE);
    const call = await world.app.calls.create(ALICE, callWith(instance, audioId));
    await world.app.audio.delete(ALICE, audioId);
    await expect(world.app.calls.create(ALICE, callWith(instance, audioId))).rejects.toMatchObject({
      code: "audio_not_found",
    });
    expect(await world.storage.calls.audio(call.id)).toEqual(
      Uint8Array.from(atob(audioFile(2)), (c) => c.charCodeAt(0)),
    );
    await world.app.calls.hangUp(ALICE, call.id);
    await world.system.advance(3_600_000);
    expect(await world.storage.audio.get(audioId)).toBeUndefined();
  });

  test("is refused if the file is unknown, another user's, or deleted at the same moment", async () => {
    const instance = await world.newInstance();
    const { id: foreign } = await world.app.audio.create(BOB, FILE);
    const { id: audioId } = await world.app.audio.create(ALICE, FILE);
    const refusal = { code: "audio_not_found" };
    for (const id of ["audio_01k7zq7t1vg4h6k8n0q2s4v6xz", "x", foreign])
      await expect(world.app.calls.create(ALICE, callWith(instance, id))).rejects.toMatchObject(refusal);
    world.storage.before = async (operation) => {
      if (operation !== "calls.insert") return;
      world.storage.before = () => {};
      await world.storage.audio.delete(audioId, 1);
    };
    await expect(world.app.calls.create(ALICE, callWith(instance, audioId))).rejects.toMatchObject(refusal);
  });

  test("names either the file or its id", async () => {
    const instance = await world.newInstance();
    const create = (audio: object) =>
      world.app.calls.create(ALICE, { ...callWith(instance, "x"), audio } as never).catch((error: unknown) => error);
    expect(await create({})).toMatchObject({ errors: [{ pointer: "/audio/audioBase64", code: "required" }] });
    expect(await create({ audioBase64: audioFile(1), audioId: "audio_1" })).toMatchObject({
      errors: [{ pointer: "/audio/audioId", code: "value_invalid" }],
    });
  });

  test("is the original response to a repeated request, even after the file was deleted", async () => {
    const instance = await world.newInstance();
    const { id: audioId } = await world.app.audio.create(ALICE, FILE);
    const options = { idempotencyKey: "k" };
    const call = await world.app.calls.create(ALICE, callWith(instance, audioId), options);
    await world.app.audio.delete(ALICE, audioId);
    const repeated = await world.app.calls.create(ALICE, callWith(instance, audioId), options);
    expect(repeated).toMatchObject({ id: call.id, replayed: true });
  });
});

describe("a batch with a stored audio file", () => {
  test("plays it to each target, even after its deletion, and stores no copy", async () => {
    const { world, callees, instance } = await startWithCallees();
    const { id: audioId } = await world.app.audio.create(ALICE, FILE);
    const files: unknown[] = [];
    world.storage.before = (operation, args) => {
      if (operation === "calls.insert" || operation === "batches.insert") files.push(args[1]);
    };
    const message = { type: "FIXED_AUDIO", audio: { audioId } } as const;
    const input = batchOf([instance.id], { message, start: false });
    const options = { idempotencyKey: "k" };
    const batch = await world.app.batches.create(ALICE, input, options);
    expect((await world.app.batches.dryRun(ALICE, { ...input, dryRun: true })).callMsSource).toBe("message");
    await world.app.audio.delete(ALICE, audioId);
    await expect(world.app.batches.create(ALICE, input)).rejects.toMatchObject({ code: "audio_not_found" });
    expect(await world.app.batches.create(ALICE, input, options)).toMatchObject({ id: batch.id, replayed: true });
    await world.app.batches.start(ALICE, batch.id);
    await callees.wait(30);
    expect(callees.dialledNumbers).toEqual(CALLEE_NUMBERS);
    expect(await world.app.batches.get(ALICE, batch.id)).toMatchObject({
      status: "COMPLETED",
      counts: { byReason: [{ status: "COMPLETED", reason: "message_played", targets: 3 }] },
    });
    expect(files).toEqual([undefined, undefined, undefined, undefined]);
    await world.system.advance(3_600_000);
    expect(await world.storage.audio.get(audioId)).toBeUndefined();
    await world.stop();
  });
});
