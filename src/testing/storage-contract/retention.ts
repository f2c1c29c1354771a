import { type Clause, idsOf } from "./scene.ts";

/** Records that are deleted after their retention, and on request. */
export function retentionContract(clause: Clause, persistenceClause: Clause): void {
  clause("newestId() returns the latest id of all events, calls and instances", async (scene) => {
    const { events } = scene.storage;
    scene.equal(await events.newestId(), undefined);
    const instance = await scene.storedInstance();
    scene.equal(await events.newestId(), instance.id);
    const call = await scene.storedCall(instance);
    scene.equal(await events.newestId(), call.id);
    const event = scene.event("queued", call);
    await events.append([event]);
    scene.equal(await events.newestId(), event.id);
    const last = await scene.storedInstance();
    scene.equal(await events.newestId(), last.id);
  });

  persistenceClause("the trusted time is kept as it was last saved", async (scene) => {
    scene.equal(await scene.storage.retention.trustedTime(), undefined);
    await scene.storage.retention.saveTrustedTime({ at: 1, claim: null });
    const time = { at: scene.now(), claim: { at: scene.now(), waitedMs: 3_600_000 } };
    await scene.storage.retention.saveTrustedTime(time);
    await scene.reopen();
    scene.equal(await scene.storage.retention.trustedTime(), time);
    const stepTime = { at: 3, claim: null, step: { ms: 7_200_000, waitedMs: 60_000 } };
    await scene.storage.retention.saveTrustedTime(stepTime);
    scene.equal(await scene.storage.retention.trustedTime(), stepTime);
    await scene.storage.retention.saveTrustedTime({ at: 2, claim: null });
    scene.equal(await scene.storage.retention.trustedTime(), { at: 2, claim: null });
  });

  clause("deleted instances are purged with their events once no call refers to them", async (scene) => {
    const { instances, calls, events } = scene.storage;
    const keptInstance = await scene.storedInstance();
    const calledInstance = await scene.storedInstance();
    const call = await scene.endedCall(calledInstance);
    const oldInstance = await scene.storedInstance();
    for (const instance of [keptInstance, calledInstance, oldInstance]) {
      await events.append([scene.event("instance.created", instance)]);
      if (instance !== keptInstance)
        await instances.update(instance.id, 1, { status: "DELETED", erasedAt: scene.now() }, []);
    }
    await scene.storedInstance({ status: "DELETED" }); // its deletion is not finished
    const cutoff = scene.now();
    const recentInstance = await scene.storedInstance();
    await instances.update(recentInstance.id, 1, { status: "DELETED", erasedAt: scene.now() }, []);
    scene.equal(await instances.purge(cutoff, 10), [oldInstance.id]);
    scene.equal(await instances.get(oldInstance.id), undefined);
    scene.equal(
      (await events.ofUser(scene.userId, {}, {})).map(({ instanceId }) => instanceId),
      [keptInstance.id, calledInstance.id],
    );
    await calls.remove([call.id]);
    scene.equal(await instances.purge(cutoff, 0), []);
    scene.equal(await instances.purge(cutoff, 10), [calledInstance.id]);
    scene.equal((await instances.get(recentInstance.id))?.status, "DELETED");
    scene.equal((await instances.get(keptInstance.id))?.id, keptInstance.id);
    scene.equal(await calls.counts(), {});
  });

  clause("withPhone() returns the instances linked to a number", async (scene) => {
    const { instances } = scene.storage;
    const phone = "+15550199";
    const first = await scene.storedInstance({ phone });
    await scene.storedInstance({ phone: "+15550198" });
    await scene.storedInstance({ phone, status: "DELETED" });
    const second = await scene.storedInstance({ phone, userId: scene.id("usr") });
    scene.equal(await instances.withPhone(phone), [first, second]);
  });

  clause("link events of a number are deleted once it is unlinked", async (scene) => {
    const { instances, events } = scene.storage;
    const phone = "+15550199";
    const linkedInstance = await scene.storedInstance({ phone });
    const unlinkedInstance = await scene.storedInstance({ phone: null });
    const linkEvents = [linkedInstance, unlinkedInstance].map((instance) =>
      scene.event("instance.linked", instance, { data: { phone } }),
    );
    const otherEvent = scene.event("instance.linked", unlinkedInstance, { data: { phone: "+155501990" } });
    await events.append([...linkEvents, otherEvent]);
    scene.equal(await instances.forgetPhone(phone), 1);
    scene.equal(idsOf(await events.ofUser(scene.userId, {}, {})), [linkEvents[0]?.id, otherEvent.id]);
    scene.equal(await instances.forgetPhone(phone), 0);
  });

  clause("scrubbing keeps stored records", async (scene) => {
    const instance = await scene.storedInstance();
    const call = await scene.storedCall(instance);
    await scene.storage.calls.remove([(await scene.endedCall(instance)).id]);
    await scene.storage.retention.scrub({ thorough: false });
    await Promise.all([scene.storage.retention.scrub({ thorough: true }), scene.storedCall(instance)]);
    scene.equal(await scene.storage.calls.get(call.id), call);
    scene.equal(await scene.storage.calls.counts(), { QUEUED: 2 });
  });
}
