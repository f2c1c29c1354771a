import { SINGLE_POLICY } from "../../domain/instances/queue-capacity.ts";
import { type Clause, idsOf, LONG_QUEUE } from "./scene.ts";

/** Creating calls, and the queue rule that the database enforces. */
export function queueRuleContract(clause: Clause, persistenceClause: Clause): void {
  clause("a call is read back unchanged, whatever characters its message contains", async (scene) => {
    const instance = await scene.storedInstance();
    const message = { type: "DYNAMIC_AGENT", instructions: ["\u0000 \udfff ☎ '\"", "be brief"] } as const;
    const call = scene.call(instance, { message, slot: 5 });
    const insertion = await scene.storage.calls.insert(call, undefined, SINGLE_POLICY, []);
    scene.equal(insertion, { kind: "created", call: { ...call, slot: 0 } });
    scene.equal(await scene.storage.calls.get(call.id), { ...call, slot: 0 });
    scene.equal(await scene.storage.calls.get(scene.id("call")), undefined);
  });

  persistenceClause("a call, its audio and its events outlive the process", async (scene) => {
    const instance = await scene.storedInstance();
    const call = scene.call(instance);
    const event = scene.event("queued", call);
    await scene.storage.calls.insert(call, Uint8Array.of(7, 0, 255), SINGLE_POLICY, [event]);
    await scene.reopen();
    scene.equal(await scene.storage.calls.get(call.id), call);
    scene.equal(await scene.storage.calls.audio(call.id), Uint8Array.of(7, 0, 255));
    scene.equal(await scene.timeline(call.id), [event]);
  });

  clause(
    "a call whose events cannot be stored is not stored, nor is its audio, and its slot stays free",
    async (scene) => {
      const instance = await scene.storedInstance();
      const call = scene.call(instance);
      const event = scene.impossibleEvent("queued", call);
      await scene.failure(scene.storage.calls.insert(call, Uint8Array.of(1), SINGLE_POLICY, [event]));
      scene.equal(await scene.storage.calls.get(call.id), undefined);
      scene.equal(await scene.storage.calls.audio(call.id), undefined);
      const next = await scene.storage.calls.insert(scene.call(instance), undefined, SINGLE_POLICY, []);
      scene.equal(next.kind, "created");
    },
  );

  clause("no call is created on a deleted or unknown instance", async (scene) => {
    const { calls } = scene.storage;
    const deletedInstance = await scene.storedInstance({ status: "DELETED" });
    for (const instance of [deletedInstance, scene.instance()]) {
      const call = scene.call(instance);
      const event = scene.event("queued", call);
      scene.equal(await calls.insert(call, undefined, LONG_QUEUE, [event]), { kind: "instance_gone" });
      scene.equal(await calls.get(call.id), undefined);
    }
    scene.equal(await scene.log(), []);
  });

  clause("under `single` a second creation returns the active call, in any status", async (scene) => {
    const instance = await scene.storedInstance();
    let activeCall = await scene.storedCall(instance);
    for (const status of ["QUEUED", "RINGING", "IN_PROGRESS"] as const) {
      if (status !== "QUEUED") activeCall = await scene.updateCall(activeCall, { status });
      const second = scene.call(instance);
      const insertion = await scene.storage.calls.insert(second, undefined, SINGLE_POLICY, [
        scene.event("queued", second),
      ]);
      scene.equal(insertion, { kind: "existing", call: activeCall });
      scene.equal(await scene.storage.calls.get(second.id), undefined);
      scene.equal(await scene.timeline(second.id), []);
    }
    await scene.updateCall(activeCall, { status: "COMPLETED", endedAt: scene.now() });
    const third = await scene.storage.calls.insert(scene.call(instance), undefined, SINGLE_POLICY, []);
    scene.equal(third.kind, "created");
  });

  clause("under `single` a creation returns an active call in any slot", async (scene) => {
    const instance = await scene.storedInstance();
    const first = await scene.storedCall(instance);
    const second = await scene.storedCall(instance);
    await scene.updateCall(first, { status: "FAILED", endedAt: scene.now() });
    const insertion = await scene.storage.calls.insert(scene.call(instance), undefined, SINGLE_POLICY, []);
    scene.equal(insertion, { kind: "existing", call: second });
  });

  clause("of 50 concurrent creations under `single`, one creates a call and 49 return it", async (scene) => {
    const instance = await scene.storedInstance();
    const insertions = await Promise.all(
      Array.from({ length: 50 }, () => scene.storage.calls.insert(scene.call(instance), undefined, SINGLE_POLICY, [])),
    );
    const creations = insertions.filter((insertion) => insertion.kind === "created");
    scene.equal(creations.length, 1);
    scene.equal(insertions.filter((insertion) => insertion.kind === "existing").length, 49);
    const ids = insertions.map((insertion) => ("call" in insertion ? insertion.call.id : insertion.kind));
    scene.equal(new Set(ids).size, 1);
    scene.equal((await scene.storage.calls.active(instance.id)).length, 1);
  });

  clause("50 concurrent creations under `fifo` create as many calls as there are slots", async (scene) => {
    const instance = await scene.storedInstance();
    const policy = { kind: "fifo", depth: 7 } as const;
    const insertions = await Promise.all(
      Array.from({ length: 50 }, () => scene.storage.calls.insert(scene.call(instance), undefined, policy, [])),
    );
    scene.equal(insertions.filter((insertion) => insertion.kind === "created").length, 7);
    scene.equal(insertions.filter((insertion) => insertion.kind === "full").length, 43);
    const slots = (await scene.storage.calls.active(instance.id)).map((call) => call.slot);
    scene.equal(slots.toSorted(), [0, 1, 2, 3, 4, 5, 6]);
  });

  clause("instances queue independently of each other", async (scene) => {
    const instances = [await scene.storedInstance(), await scene.storedInstance()];
    const insertions = await Promise.all(
      instances.map((instance) => scene.storage.calls.insert(scene.call(instance), undefined, SINGLE_POLICY, [])),
    );
    scene.equal(
      insertions.map((insertion) => insertion.kind),
      ["created", "created"],
    );
  });

  clause("an ended call frees its slot", async (scene) => {
    const instance = await scene.storedInstance();
    const first = await scene.storedCall(instance);
    const second = await scene.storedCall(instance);
    await scene.updateCall(first, { status: "FAILED", endedAt: scene.now() });
    const third = await scene.storedCall(instance);
    scene.equal([first.slot, second.slot, third.slot], [0, 1, 0]);
    scene.equal(idsOf(await scene.storage.calls.active(instance.id)), [second.id, third.id]);
  });

  clause("a line carries one call from its claim to its end, and the database refuses a second", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    await scene.storedCall(instance);
    const waitingCall = await scene.storedCall(instance);
    let claimedCall = await scene.claimedCall(instance, 0);
    for (const status of ["QUEUED", "RINGING", "IN_PROGRESS"] as const) {
      if (status !== "QUEUED") claimedCall = await scene.updateCall(claimedCall, { status });
      await scene.failure(calls.claimNext(instance.id, "node_a", scene.now(), 0));
      scene.equal(await calls.get(waitingCall.id), waitingCall);
    }
    await scene.updateCall(claimedCall, { status: "COMPLETED", endedAt: scene.now() });
    const nextCall = await scene.claimedCall(instance, 0);
    scene.equal([nextCall.id, nextCall.line], [waitingCall.id, 0]);
  });

  clause("a call that returns to the queue frees its line", async (scene) => {
    const instance = await scene.storedInstance();
    await scene.storedCall(instance);
    const call = await scene.claimedCall(instance, 3);
    const requeuedCall = await scene.updateCall(call, { owner: null, dialingAt: null, line: null });
    scene.equal(requeuedCall.line, null);
    scene.equal((await scene.claimedCall(instance, 3)).id, call.id);
  });

  clause("lines of one instance, and of several instances, are independent", async (scene) => {
    const instances = [await scene.storedInstance(), await scene.storedInstance()];
    const lines: (number | null)[] = [];
    for (const instance of instances)
      for (let line = 0; line < 3; line++) {
        await scene.storedCall(instance);
        const call = await scene.claimedCall(instance, line);
        lines.push((await scene.updateCall(call, { status: "RINGING" })).line);
      }
    scene.equal(lines, [0, 1, 2, 0, 1, 2]);
    const statuses = (await scene.storage.calls.active(instances[0]?.id ?? "")).map(({ status }) => status);
    scene.equal(statuses, ["RINGING", "RINGING", "RINGING"]);
  });

  clause("of 20 concurrent claims for one line, one claims a call", async (scene) => {
    const instance = await scene.storedInstance();
    for (let i = 0; i < 20; i++) await scene.storedCall(instance);
    const claims = await Promise.allSettled(
      Array.from({ length: 20 }, () => scene.storage.calls.claimNext(instance.id, "node_a", scene.now(), 0)),
    );
    scene.equal(claims.filter(({ status }) => status === "fulfilled").length, 1);
    scene.equal((await scene.storage.calls.claimed(instance.id, "node_a")).length, 1);
  });
}
