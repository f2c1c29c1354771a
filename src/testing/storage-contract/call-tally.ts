import type { Call } from "../../domain/calls/call.ts";
import type { Outcome } from "../../domain/calls/outcome.ts";
import type { Clause, StorageScene } from "./scene.ts";

const NO_CALLS = { completed: 0, failed: 0, failures: {} };

/** Counts of calls by their outcomes. */
export function callTallyContract(clause: Clause): void {
  clause("counts final calls of every type by their reasons, and no other user's", async (scene) => {
    const instance = await scene.storedInstance();
    const from = scene.now();
    await storeEndedCall(scene, instance, "COMPLETED", "message_played");
    await storeEndedCall(scene, instance, "COMPLETED", "callee_hung_up", { message: { type: "DYNAMIC_STREAM" } });
    await storeEndedCall(scene, instance, "FAILED", "busy");
    await storeEndedCall(scene, instance, "FAILED", "busy", {
      message: { type: "DYNAMIC_AGENT", instructions: ["be brief"] },
    });
    await storeEndedCall(scene, instance, "FAILED", "no_answer");
    await storeEndedCall(scene, instance, "FAILED", "busy", { userId: scene.id("usr") });
    await scene.endedCall(instance); // without an outcome
    const { calls } = scene.storage;
    scene.equal(await calls.tally(scene.userId, from, scene.now()), {
      completed: 2,
      failed: 4,
      failures: { busy: 2, no_answer: 1 },
    });
    scene.equal(await calls.tally(scene.id("usr"), from, scene.now()), NO_CALLS);
  });

  clause("counts calls from the beginning of the period until before its end", async (scene) => {
    const instance = await scene.storedInstance();
    const { createdAt } = await storeEndedCall(scene, instance, "FAILED", "busy");
    const { calls } = scene.storage;
    const expected = { completed: 0, failed: 1, failures: { busy: 1 } };
    scene.equal(await calls.tally(scene.userId, createdAt, createdAt + 1), expected);
    scene.equal(await calls.tally(scene.userId, createdAt + 1, createdAt + 2), NO_CALLS);
    scene.equal(await calls.tally(scene.userId, createdAt - 1, createdAt), NO_CALLS);
  });

  clause("counts no call that has not ended, and none that was removed", async (scene) => {
    const instance = await scene.storedInstance();
    const from = scene.now();
    const call = await storeEndedCall(scene, instance, "FAILED", "busy");
    await scene.storedCall(instance);
    await scene.updateCall(await scene.storedCall(instance), { status: "RINGING" });
    await scene.storage.calls.remove([call.id]);
    scene.equal(await scene.storage.calls.tally(scene.userId, from, scene.now()), NO_CALLS);
  });
}

/** A call that was created and has ended for this reason. */
async function storeEndedCall(
  scene: StorageScene,
  instance: Pick<Call, "id">,
  status: "COMPLETED" | "FAILED",
  reason: Outcome["reason"],
  patch: Partial<Call> = {},
): Promise<Call> {
  const outcome: Outcome = {
    reason,
    detail: `{"reason":"declined"}`,
    answeredBy: null,
    heardMs: null,
    heardRatio: null,
    durationMs: 0,
  };
  const call = await scene.storedCall(instance, patch);
  return scene.updateCall(call, { status, outcome, endedAt: scene.now() });
}
