import type { Call } from "../../domain/calls/call.ts";
import { SINGLE_POLICY } from "../../domain/instances/queue-capacity.ts";
import type { ByteBudget } from "../../ports/storage.ts";
import { type Clause, LONG_QUEUE, type StorageScene } from "./scene.ts";

const KIB = 1024;

/** Clauses about the storage of users, and of the demo tokens of an instance. */
export function byteBudgetContract(clause: Clause): void {
  counting(clause);
  limits(clause);
}

function counting(clause: Clause): void {
  clause("a call's events, audio file and transcript count towards its user's budget", async (scene) => {
    const instance = await scene.storedInstance();
    const storedBytes = () => scene.storage.retention.storedBytes(scene.userId);
    const before = await storedBytes();
    const call = scene.call(instance, { message: { type: "FIXED_AUDIO", fileName: "a.wav" } as never });
    await scene.storage.calls.insert(call, new Uint8Array(64 * KIB), SINGLE_POLICY, []);
    scene.equal((await storedBytes()) >= before + 64 * KIB, true);
    await scene.storage.transcripts.append([
      {
        callId: call.id,
        position: 0,
        speaker: "callee",
        text: "é".repeat(16 * KIB),
        timestamp: scene.now(),
        startMs: 0,
        endMs: 1,
        confidence: null,
      },
    ]);
    const endEvent = scene.event("completed", call, { data: { text: "x".repeat(8 * KIB) } });
    await scene.updateCall(call, { status: "COMPLETED", endedAt: scene.now(), recordedMs: 1_000 }, [endEvent]);
    // The audio file is deleted; transcript, event and recording exist.
    const addedBytes = (await storedBytes()) - before;
    scene.equal(addedBytes >= (32 + 8) * KIB + 64_000 && addedBytes < (32 + 8 + 16) * KIB + 64_000, true);
    scene.equal(await scene.storage.retention.storedBytes(instance.id), 0);
    await scene.storage.calls.remove([call.id]);
    scene.equal(await storedBytes(), before);
  });

  clause("a deleted recording no longer counts", async (scene) => {
    const storedBytes = () => scene.storage.retention.storedBytes(scene.userId);
    const call = await scene.endedCall(await scene.storedInstance(), { recordedMs: 0 });
    const bytesWithout = await storedBytes();
    const recordedCall = await scene.updateCall(call, { recordedMs: 10_000 });
    scene.equal((await storedBytes()) - bytesWithout >= 640_000, true);
    await scene.updateCall(recordedCall, { recordedMs: 0 });
    scene.equal(await storedBytes(), bytesWithout);
  });

  clause("a demo token's call also counts towards its instance's budget", async (scene) => {
    const [instance, other] = [await scene.storedInstance(), await scene.storedInstance()];
    const demoBytes = () => scene.storage.retention.storedBytes(instance.id);
    await scene.endedCall(instance);
    scene.equal(await demoBytes(), 0);
    const call = await scene.endedCall(instance, { isDemo: true, reference: "x".repeat(100) });
    scene.equal((await demoBytes()) > 100, true);
    scene.equal(await scene.storage.retention.storedBytes(other.id), 0);
    scene.equal((await scene.storage.calls.get(call.id))?.isDemo, true);
    await scene.storage.calls.remove([call.id]);
    scene.equal(await demoBytes(), 0);
  });

  clause("a deleted instance counts until it is purged", async (scene) => {
    const { instances, retention } = scene.storage;
    const instance = await scene.storedInstance({ metadata: { text: "x".repeat(8 * KIB) } });
    const event = scene.event("instance.created", instance, { data: { text: "x".repeat(8 * KIB) } });
    await instances.update(instance.id, 1, { status: "DELETED", erasedAt: scene.now() }, [event]);
    scene.equal((await retention.storedBytes(scene.userId)) >= 16 * KIB, true);
    await instances.purge(scene.now(), 10);
    scene.equal(await retention.storedBytes(scene.userId), 0);
  });

  clause("a forgotten user has stored nothing", async (scene) => {
    await scene.storedInstance({ status: "DELETED", erasedAt: scene.now() });
    while (await scene.storage.logins.forgetUser(scene.userId, 2));
    scene.equal(await scene.storage.retention.storedBytes(scene.userId), 0);
  });
}

function limits(clause: Clause): void {
  clause("a call that exceeds a budget is not created, and stores nothing", async (scene) => {
    const { calls, receipts, retention } = scene.storage;
    const instance = await scene.storedInstance();
    const before = await retention.storedBytes(scene.userId);
    const receipt = { ...scene.key("k"), fingerprint: "body", begunAt: scene.now(), expiredBefore: 0 };
    const create = (call: Call, budget: ByteBudget) =>
      calls.insert(
        call,
        new Uint8Array(8 * KIB),
        LONG_QUEUE,
        [scene.event("queued", call)],
        receipt,
        undefined,
        budget,
      );
    const demoCall = scene.call(instance, { isDemo: true });
    const [smallBytes, bigBytes] = [before + 8 * KIB, before + 80 * KIB];
    scene.equal(await create(scene.call(instance), { userBytes: smallBytes, demoBytes: bigBytes }), overBudget("user"));
    scene.equal(await create(demoCall, { userBytes: bigBytes, demoBytes: 8 * KIB }), overBudget("demo"));
    scene.equal(await calls.get(demoCall.id), undefined);
    scene.equal(await receipts.find(receipt, 0), undefined);
    scene.equal(await scene.log(), []);
    scene.equal(await retention.storedBytes(scene.userId), before);
    scene.equal(await retention.storedBytes(instance.id), 0);
    scene.equal((await create(scene.call(instance), { userBytes: bigBytes, demoBytes: 0 })).kind, "created");
  });

  clause("an instance that exceeds the budget is not created", async (scene) => {
    const { instances } = scene.storage;
    const budget = { userBytes: 8 * KIB, demoBytes: 0 };
    const bigInstance = scene.instance({ metadata: { text: "x".repeat(8 * KIB) } });
    scene.equal(await instances.insert(bigInstance, [], undefined, undefined, budget), "over_budget");
    scene.equal(await instances.get(bigInstance.id), undefined);
    scene.equal(await instances.insert(scene.instance(), [], undefined, undefined, budget), "created");
  });

  clause("a budget may be infinite, or fractional", async (scene) => {
    const { instances, calls } = scene.storage;
    for (const bytes of [Infinity, 2 ** 60, 64 * KIB + 0.5]) {
      const budget = { userBytes: bytes, demoBytes: bytes };
      const instance = scene.instance();
      scene.equal(await instances.insert(instance, [], undefined, undefined, budget), "created");
      const call = scene.call(instance, { isDemo: true });
      scene.equal(
        (await calls.insert(call, undefined, SINGLE_POLICY, [], undefined, undefined, budget)).kind,
        "created",
      );
    }
    const noBytes = { userBytes: 0.5, demoBytes: 0.5 };
    scene.equal(await instances.insert(scene.instance(), [], undefined, undefined, noBytes), "over_budget");
  });

  clause("concurrent creations never exceed a budget", async (scene) => {
    const instances = await Promise.all(Array.from({ length: 12 }, () => scene.storedInstance()));
    const before = await scene.storage.retention.storedBytes(scene.userId);
    const budget = { userBytes: before + 64 * KIB, demoBytes: 0 };
    const kinds = await Promise.all(instances.map((instance) => createBig(scene, instance, budget)));
    scene.equal(kinds.filter((kind) => kind === "created").length, 3);
    scene.equal(kinds.filter((kind) => kind === "over_budget").length, 9);
  });
}

async function createBig(scene: StorageScene, instance: { readonly id: string }, budget: ByteBudget): Promise<string> {
  const call = scene.call(instance, { metadata: { text: "x".repeat(16 * KIB) } });
  return (await scene.storage.calls.insert(call, undefined, SINGLE_POLICY, [], undefined, undefined, budget)).kind;
}

function overBudget(owner: "user" | "demo") {
  return { kind: "over_budget", owner };
}
