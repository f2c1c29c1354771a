import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import type { Event } from "../../domain/events.ts";
import type { NewTarget } from "../../ports/storage.ts";
import { type Clause, idsOf, LONG_QUEUE, type StorageScene } from "./scene.ts";

/** Batches of calls and their targets. */
export function batchesContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("a batch and its targets are read back unchanged", async (scene) => {
    const draft = newBatch(scene, {
      name: "Reminders \u007f ☎",
      retry: { on: ["busy"], times: 2, backoff: { firstMs: 1_000, factor: 2, maxMs: 9_000 } },
      schedule: { startAt: 5, endAt: 9, hours: { from: "09:00", until: "18:00", days: [1, 2] }, zone: "UTC" },
      maxConcurrent: 3,
      breaker: { share: 0.5, calls: 10 },
    });
    scene.equal(await scene.storage.batches.insert(draft, Uint8Array.of(7, 0, 255), 10), "created");
    const first = target(1, "+12025550101", {
      variables: { name: "Ada \0 '\"", count: 3, vip: true },
      reference: "order 7",
      metadata: { a: [1, null] },
      zones: "America/New_York,America/Chicago",
    });
    const faultyTarget = target(2, "12", {
      status: "INVALID",
      phoneKey: null,
      nextAttemptAt: null,
      faults: [{ column: "phoneNumber", fileColumn: "Telefone", code: "phone_number_invalid", detail: "no number" }],
    });
    const storedTargets = await addTargets(scene, draft, [first, faultyTarget]);
    await scene.reopen();
    const { batches } = scene.storage;
    scene.equal(await batches.get(draft.id), { ...draft, lastPosition: 2 });
    scene.equal(await batches.audio(draft.id), Uint8Array.of(7, 0, 255));
    scene.equal(await batches.targets(draft.id, {}, {}), storedTargets);
    scene.equal(storedTargets, [
      { ...first, batchId: draft.id, position: 1, attempts: 0, callId: null, version: 1 },
      { ...faultyTarget, batchId: draft.id, position: 2, attempts: 0, callId: null, version: 1 },
    ]);
    scene.equal(await batches.get(scene.id("batch")), undefined);
  });

  clause("a batch beyond the limit of its user is not stored", async (scene) => {
    const { batches } = scene.storage;
    scene.equal(await batches.insert(newBatch(scene), undefined, 1), "created");
    const second = newBatch(scene);
    scene.equal(await batches.insert(second, undefined, 1), "at_limit");
    scene.equal(await batches.get(second.id), undefined);
    scene.equal(await batches.insert(newBatch(scene, { userId: scene.id("usr") }), undefined, 1), "created");
  });

  clause("two creations with one idempotency key store one batch", async (scene) => {
    const { batches } = scene.storage;
    const receipt = { ...scene.key("order 7"), fingerprint: "f", begunAt: scene.now(), expiredBefore: 0 };
    const [first, second] = [newBatch(scene), newBatch(scene)];
    scene.equal(await batches.insert(first, undefined, 10, receipt), "created");
    scene.equal(await batches.insert(second, undefined, 10, receipt), "repeated");
    scene.equal(idsOf(await batches.list(scene.userId, {}, {})), [first.id]);
  });

  clause("targets beyond the limit of a batch are not stored", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    await addTargets(scene, draft, [target(1, "+12025550101"), target(2, "+12025550102")]);
    scene.equal(await batches.addTargets(draft.id, [target(3, "+12025550103")], 2), "at_limit");
    scene.equal((await batches.targets(draft.id, {}, {})).length, 2);
  });

  clause("a long list of targets is stored unchanged", async (scene) => {
    const draft = await storedBatch(scene);
    const phoneOf = (n: number): string => `+12025${String(n).padStart(6, "0")}`;
    const targets = Array.from({ length: 237 }, (_, n) => target(n + 1, phoneOf(n), { variables: { n: String(n) } }));
    const storedTargets = await addTargets(scene, draft, [...targets, target(238, phoneOf(236))]);
    scene.equal(storedTargets.at(-1)?.status, "DUPLICATE");
    const read = await scene.storage.batches.targets(draft.id, {}, {});
    scene.equal(read, storedTargets);
    scene.equal(
      read.map(({ position }) => position),
      read.map((_, index) => index + 1),
    );
    scene.equal((await scene.storage.batches.counts(draft.id)).byStatus, { WAITING: 237, DUPLICATE: 1 });
  });

  clause("targets are added only to a draft", async (scene) => {
    const activeBatch = await runningBatch(scene, []);
    scene.equal(await scene.storage.batches.addTargets(activeBatch.id, [target(1, "+12025550101")], 9), "not_draft");
    scene.equal(await scene.storage.batches.addTargets(scene.id("batch"), [], 9), "not_draft");
  });

  clause("a repeated number becomes a duplicate that names the first row", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    const [, second] = await addTargets(scene, draft, [target(4, "+12025550101"), target(5, "+12025550101")]);
    scene.equal([second?.status, second?.faults?.[0]?.code], ["DUPLICATE", "duplicate"]);
    scene.equal(second?.faults?.[0]?.detail.includes("row 4"), true);
    const [third] = await addTargets(scene, draft, [target(6, "+12025550101")]);
    scene.equal(third?.status, "DUPLICATE");
    const invalidTarget = target(7, "+12025550101", { status: "INVALID", nextAttemptAt: null });
    const [fourth] = await addTargets(scene, draft, [invalidTarget]);
    scene.equal(fourth?.status, "INVALID");
    const correction = { status: "WAITING", nextAttemptAt: 0 } as const;
    scene.equal(await batches.updateTarget(draft.id, fourth?.position ?? 0, 1, correction, []), "taken");
    scene.equal((await batches.counts(draft.id)).byStatus, { WAITING: 1, DUPLICATE: 2, INVALID: 1 });
  });

  clause("the first duplicate replaces a target that releases its number", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    const same = [
      target(1, "+12025550101", { nextAttemptAt: 7 }),
      target(2, "+12025550101"),
      target(3, "+12025550101"),
    ];
    await addTargets(scene, draft, same);
    const changedFields = {
      phone: "+12025550102",
      phoneKey: "+12025550102",
      status: "WAITING",
      nextAttemptAt: 0,
    } as const;
    await batches.updateTarget(draft.id, 1, 1, { ...changedFields, updatedAt: 20 }, []);
    const second = await batches.target(draft.id, 2);
    scene.equal(
      [second?.status, second?.nextAttemptAt, second?.faults, second?.updatedAt],
      ["WAITING", 7, undefined, 20],
    );
    scene.equal((await batches.counts(draft.id)).byStatus, { WAITING: 2, DUPLICATE: 1 });
    await batches.removeTarget(draft.id, 2, 30);
    const third = await batches.target(draft.id, 3);
    scene.equal([third?.status, third?.updatedAt], ["WAITING", 30]);
    scene.equal((await batches.counts(draft.id)).byStatus, { WAITING: 2 });
    const invalidFields = { status: "INVALID", nextAttemptAt: null, faults: [] } as const;
    await addTargets(scene, draft, [target(4, "+12025550101")]);
    await batches.updateTarget(draft.id, 3, 2, invalidFields, []);
    scene.equal((await batches.target(draft.id, 4))?.status, "WAITING");
  });

  clause("an update requires the expected version, and adjusts the counts", async (scene) => {
    const activeBatch = await runningBatch(scene, ["+12025550101", "+12025550102"]);
    const { batches } = scene.storage;
    const failure = { status: "FAILED", reason: "busy", nextAttemptAt: null } as const;
    const event = batchEvent(scene, activeBatch);
    scene.equal(await batches.updateTarget(activeBatch.id, 1, 9, failure, [event]), undefined);
    scene.equal((await scene.log()).length, 0);
    const updatedTarget = await batches.updateTarget(activeBatch.id, 1, 1, failure, [event]);
    scene.equal(updatedTarget, {
      ...target(1, "+12025550101"),
      ...failure,
      ...{ batchId: activeBatch.id, position: 1 },
      ...{ attempts: 0, callId: null, version: 2 },
    });
    scene.equal(await batches.counts(activeBatch.id), {
      byStatus: { FAILED: 1, WAITING: 1 },
      byReason: [{ status: "FAILED", reason: "busy", targets: 1 }],
      waitingAfter: [],
    });
    scene.equal(await scene.log(), [event]);
  });

  clause("counts() groups waiting targets by the reason of their last call", async (scene) => {
    const instance = await scene.storedInstance();
    const phones = ["+12025550101", "+12025550102", "+12025550103", "+12025550104"];
    const activeBatch = await runningBatch(scene, phones);
    const { batches, calls } = scene.storage;
    const { id } = activeBatch;
    const reasons = ["busy", "no_answer", "busy"];
    for (const [index, reason] of reasons.entries())
      await batches.updateTarget(id, index + 1, 1, { reason, nextAttemptAt: 9 }, []);
    const waitingAfter = async () => (await batches.counts(id)).waitingAfter;
    scene.equal(await batches.counts(id), {
      byStatus: { WAITING: 4 },
      byReason: [],
      waitingAfter: [
        { reason: "busy", targets: 2 },
        { reason: "no_answer", targets: 1 },
      ],
    });
    const call = scene.call(instance, { batchId: id, batchPosition: 1, batchAttempt: 1 });
    await calls.insert(call, undefined, LONG_QUEUE, []);
    scene.equal((await batches.counts(id)).byStatus, { CALLING: 1, WAITING: 3 });
    await batches.forgetNumber("+12025550102");
    scene.equal(await waitingAfter(), [{ reason: "busy", targets: 1 }]);
    const eventOf = () => batchEvent(scene, activeBatch);
    scene.equal((await batches.endWaiting(id, "CANCELLED", "batch_cancelled", 5, eventOf, 20)).length, 2);
    scene.equal(await batches.counts(id), {
      byStatus: { CALLING: 1, CANCELLED: 2 },
      byReason: [{ status: "CANCELLED", reason: "batch_cancelled", targets: 2 }],
      waitingAfter: [],
    });
  });

  clause("the call of a batch and its target are stored together, once", async (scene) => {
    const instance = await scene.storedInstance();
    const activeBatch = await runningBatch(scene, ["+12025550101"]);
    const { batches, calls } = scene.storage;
    const place = { batchId: activeBatch.id, batchPosition: 1, batchAttempt: 1 };
    const call = scene.call(instance, place);
    scene.equal((await calls.insert(call, undefined, LONG_QUEUE, [])).kind, "created");
    scene.equal(await calls.get(call.id), call);
    const callingTarget = await batches.target(activeBatch.id, 1);
    scene.equal(
      [callingTarget?.status, callingTarget?.callId, callingTarget?.attempts, callingTarget?.nextAttemptAt],
      ["CALLING", call.id, 1, null],
    );
    scene.equal(callingTarget?.updatedAt, call.createdAt);
    scene.equal(await batches.calling(activeBatch.id), [callingTarget]);
    const secondCall = scene.call(instance, place);
    scene.equal(await calls.insert(secondCall, undefined, LONG_QUEUE, []), { kind: "target_taken" });
    scene.equal(await calls.get(secondCall.id), undefined);
    scene.equal((await batches.counts(activeBatch.id)).byStatus, { CALLING: 1 });
    scene.equal(idsOf(await calls.list(scene.userId, { batchId: activeBatch.id }, {})), [call.id]);
  });

  clause("a call is stored only for a running batch and the next attempt", async (scene) => {
    const instance = await scene.storedInstance();
    const activeBatch = await runningBatch(scene, ["+12025550101"]);
    const { batches, calls } = scene.storage;
    const call = (patch: object) =>
      scene.call(instance, { batchId: activeBatch.id, batchPosition: 1, batchAttempt: 1, ...patch });
    const targetTaken = { kind: "target_taken" };
    scene.equal(await calls.insert(call({ batchAttempt: 2 }), undefined, LONG_QUEUE, []), targetTaken);
    scene.equal(await calls.insert(call({ batchPosition: 2 }), undefined, LONG_QUEUE, []), targetTaken);
    await batches.update(activeBatch.id, activeBatch.version, { status: "PAUSED" }, []);
    scene.equal(await calls.insert(call({}), undefined, LONG_QUEUE, []), targetTaken);
    scene.equal(await calls.active(instance.id), []);
  });

  clause("due retries come before other due targets, each by time, then by position", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    const times = [30, 10, 20, 10, 90, 28, 25, 95];
    await addTargets(
      scene,
      draft,
      times.map((at, index) => target(index + 1, `+1202555010${index}`, { nextAttemptAt: at })),
    );
    for (const position of [6, 7, 8])
      await batches.updateTarget(draft.id, position, 1, { attempts: 1, updatedAt: scene.now() }, []);
    const positionsOf = async (limit: number) =>
      (await batches.due(draft.id, 30, limit)).targets.map(({ position }) => position);
    scene.equal(await positionsOf(1), [7]);
    scene.equal(await positionsOf(5), [7, 6, 2, 4, 3]);
    scene.equal(await positionsOf(50), [7, 6, 2, 4, 3, 1]);
  });

  clause("due() also returns the time of the next target that is not due yet", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    await addTargets(
      scene,
      draft,
      [30, 10].map((at, index) => target(index + 1, `+1202555010${index}`, { nextAttemptAt: at })),
    );
    const noTargets = await batches.due(draft.id, 5, 3);
    scene.equal([noTargets.targets.length, noTargets.nextAt], [0, 10]);
    scene.equal(await batches.due(scene.id("batch"), 5, 3), { targets: [], nextAt: undefined });
  });

  clause("targets of the same zones are postponed together", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    await addTargets(scene, draft, [
      target(1, "+12025550101", { zones: "A" }),
      target(2, "+12025550102", { zones: "B" }),
      target(3, "+12025550103", { zones: "A", nextAttemptAt: 99 }),
    ]);
    scene.equal(await batches.postpone(draft.id, "A", 50, 20), 1);
    const storedTargets = await batches.targets(draft.id, {}, {});
    scene.equal(
      storedTargets.map(({ nextAttemptAt, updatedAt }) => [nextAttemptAt, updatedAt]),
      [
        [50, 20],
        [0, 1],
        [99, 1],
      ],
    );
  });

  clause("targets are paged by position and filtered by status", async (scene) => {
    const activeBatch = await runningBatch(scene, ["+12025550101", "+12025550102", "+12025550103"]);
    const { batches } = scene.storage;
    await batches.updateTarget(activeBatch.id, 2, 1, { status: "FAILED", reason: "busy", nextAttemptAt: null }, []);
    const positions = async (...args: Parameters<typeof batches.targets>) =>
      (await batches.targets(...args)).map(({ position }) => position);
    scene.equal(await positions(activeBatch.id, {}, { limit: 2 }), [1, 2]);
    scene.equal(await positions(activeBatch.id, {}, { limit: 2, after: "2" }), [3]);
    scene.equal(await positions(activeBatch.id, { status: ["WAITING"] }, {}), [1, 3]);
    scene.equal(await positions(activeBatch.id, { status: [] }, {}), []);
  });

  clause("waiting targets end together, each with its event", async (scene) => {
    const activeBatch = await runningBatch(scene, ["+12025550101", "+12025550102", "+12025550103"]);
    const { batches } = scene.storage;
    await batches.updateTarget(activeBatch.id, 1, 1, { status: "FAILED", reason: "busy", nextAttemptAt: null }, []);
    const events: Event[] = [];
    const eventOf = () => {
      const event = batchEvent(scene, activeBatch);
      events.push(event);
      return event;
    };
    const first = await batches.endWaiting(activeBatch.id, "CANCELLED", "batch_cancelled", 1, eventOf, 20);
    const second = await batches.endWaiting(activeBatch.id, "CANCELLED", "batch_cancelled", 5, eventOf, 20);
    scene.equal(
      [...first, ...second].map(({ position, status, updatedAt }) => [position, status, updatedAt]),
      [
        [2, "CANCELLED", 20],
        [3, "CANCELLED", 20],
      ],
    );
    scene.equal(await batches.endWaiting(activeBatch.id, "CANCELLED", "batch_cancelled", 5, eventOf, 20), []);
    scene.equal(await scene.log(), events);
    scene.equal((await batches.counts(activeBatch.id)).byReason, [
      { status: "CANCELLED", reason: "batch_cancelled", targets: 2 },
      { status: "FAILED", reason: "busy", targets: 1 },
    ]);
  });

  clause(
    "open() returns the batches with work left, and ended() those that ended before a given time",
    async (scene) => {
      const { batches } = scene.storage;
      await storedBatch(scene);
      const activeBatch = await runningBatch(scene, []);
      const pausedBatch = await runningBatch(scene, []);
      await batches.update(pausedBatch.id, pausedBatch.version, { status: "PAUSED" }, []);
      const cancelledBatch = await runningBatch(scene, ["+12025550101"]);
      await batches.update(cancelledBatch.id, cancelledBatch.version, { status: "CANCELLED", endedAt: 5 }, []);
      const completedBatch = await runningBatch(scene, []);
      await batches.update(completedBatch.id, completedBatch.version, { status: "COMPLETED", endedAt: 5 }, []);
      scene.equal(idsOf(await batches.open()), [activeBatch.id, pausedBatch.id, cancelledBatch.id]);
      scene.equal((await batches.ended(6, 9)).toSorted(), [cancelledBatch.id, completedBatch.id].toSorted());
      scene.equal(await batches.ended(5, 9), []);
    },
  );

  clause("a batch that is not open is deleted with its targets", async (scene) => {
    const { batches } = scene.storage;
    const activeBatch = await runningBatch(scene, ["+12025550101"]);
    scene.equal(await batches.delete(activeBatch.id), false);
    await batches.update(activeBatch.id, activeBatch.version, { status: "CANCELLED", endedAt: 5 }, []);
    scene.equal(await batches.delete(activeBatch.id), true);
    scene.equal(await batches.get(activeBatch.id), undefined);
    scene.equal(await batches.targets(activeBatch.id, {}, {}), []);
    scene.equal(await batches.counts(activeBatch.id), { byStatus: {}, byReason: [], waitingAfter: [] });
    scene.equal(await batches.delete(activeBatch.id), false);
  });

  clause("an ended batch has no audio file", async (scene) => {
    const { batches } = scene.storage;
    const draft = newBatch(scene, { message: { type: "FIXED_AUDIO" } });
    await batches.insert(draft, Uint8Array.of(7), 10);
    scene.equal(await batches.audio(draft.id), Uint8Array.of(7));
    await batches.update(draft.id, 1, { status: "CANCELLED", endedAt: 5 }, []);
    scene.equal(await batches.audio(draft.id), undefined);
  });

  clause("the targets with a number are deleted in every batch, except those that are being called", async (scene) => {
    const instance = await scene.storedInstance();
    const { batches, calls } = scene.storage;
    const first = await runningBatch(scene, ["+12025550101", "+12025550102"]);
    const second = await runningBatch(scene, ["+12025550101"]);
    const call = scene.call(instance, { batchId: second.id, batchPosition: 1, batchAttempt: 1 });
    await calls.insert(call, undefined, LONG_QUEUE, []);
    scene.equal(await batches.forgetNumber("+12025550101"), 1);
    scene.equal(
      (await batches.targets(first.id, {}, {})).map(({ position }) => position),
      [2],
    );
    scene.equal((await batches.counts(first.id)).byStatus, { WAITING: 1 });
    scene.equal((await batches.targets(second.id, {}, {})).length, 1);
  });

  clause("a target of a draft is removed once", async (scene) => {
    const draft = await storedBatch(scene);
    const { batches } = scene.storage;
    await addTargets(scene, draft, [target(1, "+12025550101")]);
    scene.equal(await batches.removeTarget(draft.id, 1, 20), true);
    scene.equal(await batches.removeTarget(draft.id, 1, 20), false);
    scene.equal((await batches.counts(draft.id)).byStatus, {});
    const activeBatch = await runningBatch(scene, ["+12025550101"]);
    scene.equal(await batches.removeTarget(activeBatch.id, 1, 20), false);
  });
}

/** A batch without targets, a draft. */
export function newBatch(scene: StorageScene, patch: Partial<Batch> = {}): Batch {
  const id = scene.id("batch");
  const createdAt = scene.now();
  return {
    id,
    userId: scene.userId,
    tokenId: null,
    name: "Reminders",
    status: "DRAFT",
    instanceIds: ["inst_1"],
    message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" } },
    schedule: {},
    gapMs: 0,
    reason: null,
    lastPosition: 0,
    startedAt: null,
    endedAt: null,
    createdAt,
    updatedAt: createdAt,
    version: 1,
    ...patch,
  };
}

function target(row: number, phone: string, patch: Partial<NewTarget> = {}): NewTarget {
  return {
    row,
    phone,
    status: "WAITING",
    phoneKey: phone,
    zones: "",
    nextAttemptAt: 0,
    reason: null,
    updatedAt: 1,
    ...patch,
  };
}

async function storedBatch(scene: StorageScene): Promise<Batch> {
  const draft = newBatch(scene);
  scene.equal(await scene.storage.batches.insert(draft, undefined, 100), "created");
  return draft;
}

async function addTargets(scene: StorageScene, { id }: Batch, targets: readonly NewTarget[]): Promise<BatchTarget[]> {
  const storedTargets = await scene.storage.batches.addTargets(id, targets, 1_000);
  if (typeof storedTargets === "string") throw new Error(`no targets were stored: ${storedTargets}`);
  return storedTargets;
}

async function runningBatch(scene: StorageScene, phones: readonly string[]): Promise<Batch> {
  const draft = await storedBatch(scene);
  if (phones.length > 0)
    await addTargets(
      scene,
      draft,
      phones.map((phone, index) => target(index + 1, phone)),
    );
  const activeBatch = await scene.storage.batches.update(draft.id, 1, { status: "RUNNING" }, []);
  if (!activeBatch) throw new Error("the batch was not updated");
  return activeBatch;
}

function batchEvent(scene: StorageScene, { id, userId }: Batch): Event {
  const source = { id: scene.id("evt"), timestamp: scene.now(), callId: null, instanceId: null, userId };
  return { ...source, type: "batch_started", data: { batch_id: id } };
}
