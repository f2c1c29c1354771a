import { SINGLE_POLICY } from "../../domain/instances/queue-capacity.ts";
import type { NewReceipt } from "../../ports/storage.ts";
import type { Clause, StorageScene } from "./scene.ts";

/** Receipts of requests with an idempotency key. */
export function receiptsContract(clause: Clause): void {
  keys(clause);
  creations(clause);
  removals(clause);
}

function keys(clause: Clause): void {
  clause("a receipt is stored with its call", async (scene) => {
    const call = scene.call(await scene.storedInstance());
    scene.equal(await find(scene, "k"), undefined);
    const insertion = await scene.storage.calls.insert(call, undefined, SINGLE_POLICY, [], receipt(scene, "k"));
    scene.equal(insertion.kind, "created");
    scene.equal(await find(scene, "k"), { fingerprint: "body", recordId: call.id });
  });

  clause("a receipt is stored with its instance", async (scene) => {
    const instance = scene.instance();
    scene.equal(await scene.storage.instances.insert(instance, [], receipt(scene, "k")), "created");
    scene.equal(await find(scene, "k"), { fingerprint: "body", recordId: instance.id });
  });

  clause("users and their scopes share no keys", async (scene) => {
    const { instances, receipts } = scene.storage;
    const ownReceipt = receipt(scene, "k");
    const allReceipts = [ownReceipt, { ...ownReceipt, userId: scene.id("usr") }, { ...ownReceipt, scope: "inst_1" }];
    const records = allReceipts.map(() => scene.instance());
    for (const [index, instance] of records.entries())
      scene.equal(await instances.insert(instance, [], allReceipts[index]), "created");
    for (const [index, key] of allReceipts.entries())
      scene.equal((await receipts.find(key, 0))?.recordId, records[index]?.id);
  });

  clause("receipts are forgotten by age", async (scene) => {
    const { instances, receipts } = scene.storage;
    await instances.insert(scene.instance(), [], receipt(scene, "old"));
    const cutoff = scene.now();
    await instances.insert(scene.instance(), [], receipt(scene, "new"));
    scene.equal(await receipts.forget(cutoff), 1);
    scene.equal(await find(scene, "old"), undefined);
    scene.equal((await find(scene, "new"))?.fingerprint, "body");
  });

  clause("an expired receipt is replaced", async (scene) => {
    const { instances, receipts } = scene.storage;
    const [oldInstance, nextInstance] = [scene.instance(), scene.instance()];
    await instances.insert(oldInstance, [], receipt(scene, "k"));
    const expiredBefore = scene.now();
    scene.equal(await receipts.find(scene.key("k"), expiredBefore), undefined);
    const replacement = { ...receipt(scene, "k"), fingerprint: "other", expiredBefore };
    scene.equal(await instances.insert(nextInstance, [], replacement), "created");
    scene.equal(await find(scene, "k"), { fingerprint: "other", recordId: nextInstance.id });
  });
}

function creations(clause: Clause): void {
  clause("a key with a receipt creates no other record", async (scene) => {
    const { calls, instances } = scene.storage;
    const [busyInstance, freeInstance] = [await scene.storedInstance(), await scene.storedInstance()];
    const [first, second, instance] = [scene.call(busyInstance), scene.call(freeInstance), scene.instance()];
    await calls.insert(first, undefined, SINGLE_POLICY, [], receipt(scene, "k"));
    const queuedEvent = scene.event("queued", second);
    const repetition = { ...receipt(scene, "k"), fingerprint: "other" };
    scene.equal(await calls.insert(second, Uint8Array.of(1), SINGLE_POLICY, [queuedEvent], repetition), {
      kind: "repeated",
    });
    const createdEvent = scene.event("instance.created", instance);
    scene.equal(await instances.insert(instance, [createdEvent], repetition), "repeated");
    scene.equal(await calls.get(second.id), undefined);
    scene.equal(await calls.audio(second.id), undefined);
    scene.equal(await instances.get(instance.id), undefined);
    scene.equal(await scene.log(), []);
    scene.equal(await find(scene, "k"), { fingerprint: "body", recordId: first.id });
  });

  clause("of concurrent creations under one key, one creates a record", async (scene) => {
    const sharedReceipt = receipt(scene, "k");
    const candidates = Array.from({ length: 20 }, () => scene.instance());
    const results = await Promise.all(
      candidates.map((instance) => scene.storage.instances.insert(instance, [], sharedReceipt)),
    );
    scene.equal(results.filter((result) => result === "created").length, 1);
    scene.equal(results.filter((result) => result === "repeated").length, 19);
    scene.equal((await find(scene, "k"))?.recordId, candidates[results.indexOf("created")]?.id);
  });

  clause("a request that creates nothing stores no receipt", async (scene) => {
    const { calls, instances } = scene.storage;
    const instance = await scene.storedInstance();
    const call = scene.call(instance);
    await calls.insert(call, undefined, SINGLE_POLICY, []);
    scene.equal(
      (await calls.insert(scene.call(instance), undefined, SINGLE_POLICY, [], receipt(scene, "k"))).kind,
      "existing",
    );
    const orphanCall = scene.call(scene.instance());
    scene.equal(
      (await calls.insert(orphanCall, undefined, SINGLE_POLICY, [], receipt(scene, "k"))).kind,
      "instance_gone",
    );
    scene.equal(await instances.insert(scene.instance(), [], receipt(scene, "k"), 1), "at_limit");
    const event = scene.impossibleEvent("queued", call);
    const failingCall = scene.call(await scene.storedInstance());
    await scene.failure(calls.insert(failingCall, undefined, SINGLE_POLICY, [event], receipt(scene, "k")));
    scene.equal(await find(scene, "k"), undefined);
  });
}

function removals(clause: Clause): void {
  clause("the key of a removed call stays in use, without the hash of the request", async (scene) => {
    const { calls } = scene.storage;
    const [instance, otherInstance] = [await scene.storedInstance(), await scene.storedInstance()];
    const call = scene.call(instance);
    await calls.insert(call, undefined, SINGLE_POLICY, [], receipt(scene, "k"));
    await calls.insert(scene.call(otherInstance), undefined, SINGLE_POLICY, [], receipt(scene, "other"));
    await scene.updateCall(call, { status: "FAILED", endedAt: scene.now() });
    scene.equal((await calls.remove([call.id])).receipts, 1);
    scene.equal(await find(scene, "k"), { fingerprint: "", recordId: call.id });
    scene.equal((await find(scene, "other"))?.fingerprint, "body");
  });

  clause("the key of a purged instance stays in use", async (scene) => {
    const { instances } = scene.storage;
    const instance = scene.instance({ status: "DELETED", erasedAt: scene.now() });
    await instances.insert(instance, [], receipt(scene, "k"));
    scene.equal(await instances.purge(scene.now(), 10), [instance.id]);
    scene.equal(await find(scene, "k"), { fingerprint: "", recordId: instance.id });
  });
}

function receipt(scene: StorageScene, key: string): NewReceipt {
  return { ...scene.key(key), fingerprint: "body", begunAt: scene.now(), expiredBefore: 0 };
}

function find(scene: StorageScene, key: string) {
  return scene.storage.receipts.find(scene.key(key), 0);
}
