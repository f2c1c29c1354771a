import { SINGLE } from "../../domain/queue-policy.ts";
import type { Clause, StorageScene } from "./scene.ts";

/** Idempotency keys. */
export function receiptsContract(clause: Clause): void {
  clause("a key is begun, runs, and then answers what its request answered", async (scene) => {
    scene.equal(await begin(scene, "k"), { kind: "begun" });
    scene.equal(await begin(scene, "k", "other"), { kind: "running" });
    const result = JSON.stringify({ odd: "\u0000\ud800" });
    await scene.storage.receipts.finish({ ...scene.key("k"), result });
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
    scene.equal(await receipts.begin({ ...scene.key("k"), userId: scene.id("usr") }, "body", scene.now(), 0), {
      kind: "begun",
    });
  });

  clause("scopes of a user do not share keys", async (scene) => {
    const { receipts } = scene.storage;
    const ofDemoToken = scene.key("k", "inst_1");
    const beginScoped = () => receipts.begin(ofDemoToken, "demo", scene.now(), 0);
    scene.equal(await begin(scene, "k"), { kind: "begun" });
    scene.equal(await beginScoped(), { kind: "begun" });
    await receipts.finish({ ...ofDemoToken, result: "{}" });
    scene.equal(await begin(scene, "k"), { kind: "running" });
    await receipts.abandon(scene.key("k"));
    scene.equal(await beginScoped(), { kind: "done", fingerprint: "demo", result: "{}" });
  });

  clause("a refused request is forgotten, a finished one is not", async (scene) => {
    const { receipts } = scene.storage;
    await begin(scene, "refused");
    await receipts.abandon(scene.key("refused"));
    await receipts.abandon(scene.key("never begun"));
    scene.equal(await begin(scene, "refused"), { kind: "begun" });
  });

  clause("keys from before a time are forgotten", async (scene) => {
    const { receipts, calls } = scene.storage;
    await begin(scene, "old");
    await receipts.finish({ ...scene.key("old"), result: "{}" });
    await begin(scene, "old and running");
    const between = scene.now();
    await begin(scene, "new");
    scene.equal(await receipts.begin(scene.key("old"), "b", scene.now(), between), { kind: "begun" });
    scene.equal(await receipts.begin(scene.key("old and running"), "b", scene.now(), between), { kind: "begun" });
    scene.equal((await receipts.begin(scene.key("new"), "b", scene.now(), between)).kind, "running");
    scene.equal(await calls.counts(), {});
  });

  clause("unfinished requests of a dead process are forgotten, finished ones stay", async (scene) => {
    const { receipts } = scene.storage;
    await begin(scene, "unfinished");
    await begin(scene, "finished");
    await receipts.finish({ ...scene.key("finished"), result: "{}" });
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
        ...scene.key(key),
        result: JSON.stringify({ created: outcome.created, id: outcome.call.id }),
      }));
    }
    const done = { kind: "done", fingerprint: "body" };
    scene.equal(await begin(scene, "first"), { ...done, result: JSON.stringify({ created: true, id: first.id }) });
    scene.equal(await begin(scene, "second"), { ...done, result: JSON.stringify({ created: false, id: first.id }) });
  });

  clause("a creation of an instance stores its own result", async (scene) => {
    await begin(scene, "k");
    await scene.storage.instances.insert(scene.instance(), [], { ...scene.key("k"), result: "{}" });
    scene.equal(await begin(scene, "k"), { kind: "done", fingerprint: "body", result: "{}" });
  });

  clause("a creation under a key that is not begun stores nothing", async (scene) => {
    const { calls, instances, receipts } = scene.storage;
    const linked = await scene.storedInstance();
    const [call, instance] = [scene.call(linked), scene.instance()];
    const receipt = { ...scene.key("k"), result: "{}" };
    for (const refused of [
      () => receipts.finish(receipt),
      () => calls.insert(call, undefined, SINGLE, [], () => receipt),
      () => instances.insert(instance, [], receipt),
    ])
      scene.equal((await scene.failure(refused())).name, "StorageUnavailable");
    scene.equal(await calls.get(call.id), undefined);
    scene.equal(await instances.get(instance.id), undefined);
    scene.equal(await begin(scene, "k"), { kind: "begun" });
  });

  clause("a creation that fails or is refused leaves its key running", async (scene) => {
    const instance = await scene.storedInstance();
    const call = scene.call(instance);
    const event = scene.impossibleEvent("queued", call);
    const receipt = () => ({ ...scene.key("k"), result: "{}" });
    await begin(scene, "k");
    await scene.failure(scene.storage.calls.insert(call, undefined, SINGLE, [event], receipt));
    await scene.storage.calls.insert(scene.call(scene.instance()), undefined, SINGLE, [], receipt);
    scene.equal(await begin(scene, "k"), { kind: "running" });
  });
}

function begin(scene: StorageScene, key: string, fingerprint = "body") {
  return scene.storage.receipts.begin(scene.key(key), fingerprint, scene.now(), 0);
}
