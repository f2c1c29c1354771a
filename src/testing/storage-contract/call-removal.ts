import { type Clause, idsOf } from "./scene.ts";

/** Counting calls and deleting old ones. */
export function callRemovalContract(clause: Clause): void {
  clause("calls are counted by status", async (scene) => {
    const { calls } = scene.storage;
    scene.equal(await calls.counts(), {});
    const instance = await scene.storedInstance();
    const first = await scene.moved(await scene.storedCall(instance), { status: "RINGING" });
    await scene.storedCall(instance);
    await scene.storedCall(instance);
    await scene.endedCall(instance);
    await scene.endedCall(await scene.storedInstance());
    scene.equal(await calls.counts(), { QUEUED: 2, RINGING: 1, FAILED: 2 });
    const talking = await scene.moved(first, { status: "IN_PROGRESS" });
    await scene.moved(talking, { status: "COMPLETED", endedAt: scene.now() });
    scene.equal(await calls.counts(), { QUEUED: 2, COMPLETED: 1, FAILED: 2 });
  });

  clause("final calls that ended before a time are deleted with their events and no others", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const old = await scene.endedCall(instance);
    const waiting = await scene.storedCall(instance);
    const recent = await scene.endedCall(instance);
    for (const call of [old, waiting, recent]) await events.append([scene.event("queued", call)]);
    const ofInstance = scene.event("instance.active", instance);
    await events.append([ofInstance]);

    scene.equal(await calls.purge(recent.endedAt ?? 0, 10), [old.id]);
    scene.equal(await calls.get(old.id), undefined);
    scene.equal(await scene.timeline(old.id), []);
    scene.equal((await scene.timeline(recent.id)).length, 1);
    scene.equal((await scene.log()).length, 3);
    scene.equal(idsOf(await calls.list(scene.userId, {}, {})), [recent.id, waiting.id]);
    scene.equal(await calls.counts(), { QUEUED: 1, FAILED: 1 });
    scene.equal(await calls.purge(recent.endedAt ?? 0, 10), []);
  });

  clause("ended calls of which a recording is kept are found, oldest first, until it is gone", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const recorded = { recordedMs: 0 };
    const first = await scene.moved(await scene.endedCall(instance, recorded), { recordedMs: 86_400_000 });
    await scene.endedCall(instance);
    await scene.endedCall(instance, recorded);
    const second = await scene.moved(await scene.endedCall(instance, recorded), { recordedMs: 1 });
    const recent = await scene.moved(await scene.endedCall(instance, recorded), { recordedMs: 20 });
    scene.equal(await calls.recorded(recent.endedAt ?? 0, 10), [first, second]);
    scene.equal(await calls.recorded(recent.endedAt ?? 0, 1), [first]);
    await scene.moved(first, { recordedMs: 0 });
    scene.equal(await calls.recorded(scene.now(), 10), [second, recent]);
    scene.equal(await calls.counts(), { FAILED: 5 });
  });

  clause("a purge deletes at most as many as asked for, and several empty the store", async (scene) => {
    const instance = await scene.storedInstance();
    const ended: string[] = [];
    for (let i = 0; i < 7; i++) ended.push((await scene.endedCall(instance)).id);
    const purged: string[] = [];
    for (;;) {
      const page = await scene.storage.calls.purge(scene.now(), 3);
      purged.push(...page);
      if (page.length < 3) break;
    }
    scene.equal(purged.toSorted(), ended);
    scene.equal(await scene.storage.calls.counts(), {});
  });

  clause("a list goes on where it was when the call at the seam is purged", async (scene) => {
    const instance = await scene.storedInstance();
    const calls = [await scene.endedCall(instance), await scene.endedCall(instance)] as const;
    const seam = await scene.storedCall(instance);
    const newest = await scene.storedCall(instance);
    const early = (calls[0].endedAt ?? 0) - 1;
    await scene.moved(seam, { status: "FAILED", endedAt: early });
    scene.equal(await scene.storage.calls.purge(early + 1, 10), [seam.id]);
    const rest = await scene.storage.calls.list(scene.userId, {}, { after: seam.id });
    scene.equal(idsOf(rest), idsOf(calls).toReversed());
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, { limit: 1 })), [newest.id]);
  });
}
