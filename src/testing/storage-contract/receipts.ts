import { SINGLE } from "../../domain/queue-policy.ts";
import type { Clause, StorageScene } from "./scene.ts";

/** Idempotency keys. */
export function receiptsContract(clause: Clause): void {
  clause("a key is begun, runs, and then answers what its request answered", async (scene) => {
    scene.equal(await begin(scene, "k"), { kind: "begun" });
    scene.equal(await begin(scene, "k", "other"), { kind: "running", fingerprint: "body" });
    const result = JSON.stringify({ odd: "\u0000\ud800" });
    await scene.storage.receipts.finish({ userId: scene.userId, key: "k", result });
    scene.equal(await begin(scene, "k", "other"), { kind: "done", fingerprint: "body", result });
  });

  clause("of many that begin one key at once, one begins", async (scene) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => begin(scene, "k")));
    scene.equal(answers.filter((answer) => answer.kind === "begun").length, 1);
    scene.equal(answers.filter((answer) => answer.kind === "running").length, 19);
  });

  clause("users do not share keys", async (scene) => {
    await begin(scene, "k");
    const { receipts } = scene.storage;
    scene.equal(await receipts.begin(scene.id("usr"), "k", "body", scene.now(), 0), { kind: "begun" });
  });

  clause("a refused request is forgotten, a finished one is not", async (scene) => {
    const { receipts } = scene.storage;
    await begin(scene, "refused");
    await receipts.abandon(scene.userId, "refused");
    await receipts.abandon(scene.userId, "never begun");
    scene.equal(await begin(scene, "refused"), { kind: "begun" });
  });

  clause("keys from before a time are forgotten", async (scene) => {
    const { receipts, calls } = scene.storage;
    await begin(scene, "old");
    await receipts.finish({ userId: scene.userId, key: "old", result: "{}" });
    await begin(scene, "old and running");
    const between = scene.now();
    await begin(scene, "new");
    scene.equal(await receipts.begin(scene.userId, "old", "b", scene.now(), between), { kind: "begun" });
    scene.equal(await receipts.begin(scene.userId, "old and running", "b", scene.now(), between), { kind: "begun" });
    scene.equal((await receipts.begin(scene.userId, "new", "b", scene.now(), between)).kind, "running");
    scene.equal(await calls.counts(), {});
  });

  clause("unfinished requests of a dead process are forgotten, finished ones stay", async (scene) => {
    const { receipts } = scene.storage;
    await begin(scene, "unfinished");
    await begin(scene, "finished");
    await receipts.finish({ userId: scene.userId, key: "finished", result: "{}" });
    await receipts.abandonUnfinished();
    scene.equal(await begin(scene, "unfinished"), { kind: "begun" });
    scene.equal((await begin(scene, "finished")).kind, "done");
  });

  clause("a creation stores its own result, made from what came of it", async (scene) => {
    const instance = await scene.storedInstance();
    const first = scene.call(instance);
    const second = scene.call(instance);
    for (const [key, call] of [
      ["first", first],
      ["second", second],
    ] as const) {
      await begin(scene, key);
      await scene.storage.calls.insert(call, undefined, SINGLE, [], (outcome) => ({
        userId: scene.userId,
        key,
        result: JSON.stringify({ created: outcome.created, id: outcome.call.id }),
      }));
    }
    const done = { kind: "done", fingerprint: "body" };
    scene.equal(await begin(scene, "first"), { ...done, result: JSON.stringify({ created: true, id: first.id }) });
    scene.equal(await begin(scene, "second"), { ...done, result: JSON.stringify({ created: false, id: first.id }) });
  });

  clause("a creation of an instance stores its own result", async (scene) => {
    await begin(scene, "k");
    await scene.storage.instances.insert(scene.instance(), [], { userId: scene.userId, key: "k", result: "{}" });
    scene.equal(await begin(scene, "k"), { kind: "done", fingerprint: "body", result: "{}" });
  });

  clause("a creation that fails or is refused leaves its key running", async (scene) => {
    const instance = await scene.storedInstance();
    const call = scene.call(instance);
    const event = scene.impossibleEvent("queued", call);
    const receipt = () => ({ userId: scene.userId, key: "k", result: "{}" });
    await begin(scene, "k");
    await scene.failure(scene.storage.calls.insert(call, undefined, SINGLE, [event], receipt));
    await scene.storage.calls.insert(scene.call(scene.instance()), undefined, SINGLE, [], receipt);
    scene.equal(await begin(scene, "k"), { kind: "running", fingerprint: "body" });
  });
}

function begin(scene: StorageScene, key: string, fingerprint = "body") {
  return scene.storage.receipts.begin(scene.userId, key, fingerprint, scene.now(), 0);
}
