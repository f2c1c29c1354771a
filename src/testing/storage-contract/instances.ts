import type { Instance } from "../../domain/instances/instance.ts";
import { type Clause, idsOf } from "./scene.ts";

/** Instances, their lists and their credentials. */
export function instancesContract(clause: Clause, persistenceClause: Clause): void {
  clause("an instance is read back unchanged, whatever characters its metadata contains", async (scene) => {
    const instance = scene.instance({ metadata: { odd: "\u0000 \ud800 ☎ '\"", deep: [{ a: null }] }, phone: "+1555" });
    await scene.storage.instances.insert(instance, []);
    scene.equal(await scene.storage.instances.get(instance.id), instance);
    scene.equal(await scene.storage.instances.get(scene.id("inst")), undefined);
  });

  persistenceClause("an instance and its events outlive the process", async (scene) => {
    const instance = scene.instance();
    const event = scene.event("instance.created", instance);
    await scene.storage.instances.insert(instance, [event]);
    await scene.reopen();
    scene.equal(await scene.storage.instances.get(instance.id), instance);
    scene.equal(await scene.log(), [event]);
  });

  clause("an instance with unstorable events is not stored", async (scene) => {
    const instance = scene.instance();
    const event = scene.impossibleEvent("instance.created", instance);
    await scene.failure(scene.storage.instances.insert(instance, [event]));
    scene.equal(await scene.storage.instances.get(instance.id), undefined);
  });

  clause("a user gets no more instances than allowed, even through concurrent creations", async (scene) => {
    const insert = async (limit: number) => {
      const instance = scene.instance();
      const event = scene.event("instance.created", instance);
      const result = await scene.storage.instances.insert(instance, [event], undefined, limit);
      const isStored = result === "created";
      return { instance, isStored };
    };
    await scene.storedInstance();
    await scene.storedInstance({ status: "DELETED" });
    await scene.storedInstance({ userId: scene.id("usr") });
    const attempts = await Promise.all(Array.from({ length: 8 }, () => insert(3)));
    const storedIds = attempts.filter(({ isStored }) => isStored).map(({ instance }) => instance.id);
    scene.equal(storedIds.length, 2);
    scene.equal((await scene.storage.instances.list(scene.userId, {})).length, 3);
    // A refused instance stores nothing.
    scene.equal((await scene.log()).map(({ instanceId }) => instanceId).sort(), [...storedIds].sort());
    scene.equal((await insert(4)).isStored, true);
  });

  clause("an update changes the named fields, raises the version and stores its events", async (scene) => {
    const instance = await scene.storedInstance({ status: "CREATED" });
    const event = scene.event("instance.linked", instance);
    const patch = { status: "CONFIGURED", phone: "+15550101", updatedAt: scene.now() } as const;
    const updatedInstance = await scene.storage.instances.update(instance.id, 1, patch, [event]);
    scene.equal(updatedInstance, { ...instance, ...patch, version: 2 });
    scene.equal(await scene.storage.instances.get(instance.id), updatedInstance);
    scene.equal(await scene.log(), [event]);
  });

  clause("an instance keeps its caller until an update changes or removes it", async (scene) => {
    const { instances } = scene.storage;
    const callerId = { phoneNumber: "+12025550101", displayName: 'Zoë "Z"', withheld: false };
    const instance = await scene.storedInstance({ callerId });
    scene.equal((await instances.get(instance.id))?.callerId, callerId);
    await instances.update(instance.id, 1, { name: "Desk" }, []);
    scene.equal((await instances.get(instance.id))?.callerId, callerId);
    await instances.update(instance.id, 2, { callerId: { withheld: true } }, []);
    scene.equal((await instances.get(instance.id))?.callerId, { withheld: true });
    await instances.update(instance.id, 3, { callerId: null }, []);
    scene.equal((await instances.get(instance.id))?.callerId ?? null, null);
  });

  clause("an instance keeps its link time and its latest pause until an update changes them", async (scene) => {
    const { instances } = scene.storage;
    const pause = { until: scene.now() + 1_000, reason: "0 of the last 20 calls were answered" };
    const instance = await scene.storedInstance({ linkedAt: scene.now() });
    scene.equal((await instances.get(instance.id))?.linkedAt, instance.linkedAt);
    scene.equal((await instances.update(instance.id, 1, { pause }, []))?.pause, pause);
    const renamedInstance = await instances.update(instance.id, 2, { name: "Desk" }, []);
    scene.equal([renamedInstance?.linkedAt, renamedInstance?.pause], [instance.linkedAt, pause]);
    const unlinkedInstance = await instances.update(instance.id, 3, { linkedAt: null, pause: null }, []);
    scene.equal([unlinkedInstance?.linkedAt ?? null, unlinkedInstance?.pause ?? null], [null, null]);
  });

  persistenceClause("an instance keeps the number to which its dials belong", async (scene) => {
    const dialledNumber = { mark: "a1b2", since: scene.now() };
    const { id } = await scene.storedInstance({ dialledNumber });
    const next = { mark: "c3d4", since: scene.now() };
    scene.equal((await scene.storage.instances.get(id))?.dialledNumber, dialledNumber);
    await scene.storage.instances.update(id, 1, { dialledNumber: next }, []);
    await scene.storage.instances.update(id, 2, { linkedAt: null, pause: null }, []);
    await scene.reopen();
    scene.equal((await scene.storage.instances.get(id))?.dialledNumber, next);
  });

  clause("an update that expects another version writes nothing", async (scene) => {
    const { instances } = scene.storage;
    const instance = await scene.storedInstance();
    const event = scene.event("instance.offline", instance);
    scene.equal(await instances.update(instance.id, 2, { name: "Other" }, [event]), undefined);
    scene.equal(await instances.update(scene.id("inst"), 1, { name: "Other" }, [event]), undefined);
    scene.equal(await instances.get(instance.id), instance);
    scene.equal(await scene.log(), []);
  });

  clause("of concurrent updates to one version, one wins", async (scene) => {
    const instance = await scene.storedInstance();
    const updates = await Promise.all(
      Array.from({ length: 10 }, (_, i) => scene.storage.instances.update(instance.id, 1, { name: `name ${i}` }, [])),
    );
    scene.equal(updates.filter((update) => update !== undefined).length, 1);
  });

  clause("a user's instances are listed newest first, without deleted ones", async (scene) => {
    const first = await scene.storedInstance();
    const deletedInstance = await scene.storedInstance();
    await scene.storedInstance({ userId: scene.id("usr") });
    const last = await scene.storedInstance();
    await scene.storage.instances.update(deletedInstance.id, 1, { status: "DELETED" }, []);
    scene.equal(await scene.storage.instances.list(scene.userId, {}), [last, first]);
    scene.equal((await scene.storage.instances.get(deletedInstance.id))?.status, "DELETED");
  });

  clause("pages of instances have no gaps or overlaps, even if creation times are equal", async (scene) => {
    const createdAt = scene.now();
    const allIds: string[] = [];
    for (let i = 0; i < 7; i++) allIds.unshift((await scene.storedInstance({ createdAt })).id);
    const listedIds: string[] = [];
    for (;;) {
      const page = await scene.storage.instances.list(scene.userId, { limit: 3, after: listedIds.at(-1) });
      listedIds.push(...idsOf(page));
      if (page.length < 3) break;
    }
    scene.equal(listedIds, allIds);
  });

  clause("linked instances are listed by id, in pages", async (scene) => {
    const { instances } = scene.storage;
    await scene.storedInstance({ status: "CREATED" });
    const configuredInstance = await scene.storedInstance({ status: "CONFIGURED" });
    await scene.storedInstance({ status: "DELETED" });
    const activeInstance = await scene.storedInstance({ status: "ACTIVE", userId: scene.id("usr") });
    scene.equal(idsOf(await instances.linked({})), [configuredInstance.id, activeInstance.id]);
    scene.equal(idsOf(await instances.linked({ limit: 1 })), [configuredInstance.id]);
    scene.equal(idsOf(await instances.linked({ limit: 5, after: configuredInstance.id })), [activeInstance.id]);
  });

  clause("a provider's unlinked instances are listed by ascending id, in pages", async (scene) => {
    const { instances } = scene.storage;
    const first = await scene.storedInstance({ status: "CREATED", provider: "sip/main" });
    await scene.storedInstance({ status: "CREATED", provider: "simulator" });
    await scene.storedInstance({ status: "CONFIGURED", provider: "sip/main" });
    await scene.storedInstance({ status: "DELETED", provider: "sip/main" });
    const last = await scene.storedInstance({ status: "CREATED", provider: "sip/main", userId: scene.id("usr") });
    scene.equal(idsOf(await instances.unlinked("sip/main", {})), [first.id, last.id]);
    scene.equal(idsOf(await instances.unlinked("sip/main", { limit: 1 })), [first.id]);
    scene.equal(idsOf(await instances.unlinked("sip/main", { limit: 5, after: first.id })), [last.id]);
    scene.equal(await instances.unlinked("sip/other", {}), []);
  });

  clause("a deleted instance keeps its credentials until its deletion is finished", async (scene) => {
    const { instances } = scene.storage;
    const { id, version } = await scene.storedInstance();
    await instances.saveCredentials(id, Uint8Array.of(1, 2, 3));
    const deletedInstance = await instances.update(id, version, { status: "DELETED" }, []);
    scene.equal([deletedInstance?.erasedAt, await instances.loadCredentials(id)], [null, Uint8Array.of(1, 2, 3)]);
    const erasedAt = scene.now();
    scene.equal(await instances.update(id, version, { erasedAt }, []), undefined); // of an old version
    scene.equal(await instances.loadCredentials(id), Uint8Array.of(1, 2, 3));
    scene.equal((await instances.update(id, version + 1, { erasedAt }, []))?.erasedAt, erasedAt);
    scene.equal(await instances.loadCredentials(id), undefined);
    scene.equal((await instances.get(id))?.erasedAt, erasedAt);
  });

  clause("unlinking an instance deletes its credentials", async (scene) => {
    const { instances } = scene.storage;
    const { id, version } = await scene.storedInstance({ status: "CONFIGURED" });
    await instances.saveCredentials(id, Uint8Array.of(1, 2, 3));
    await instances.update(id, version, { name: "Other" }, []);
    scene.equal(await instances.loadCredentials(id), Uint8Array.of(1, 2, 3));
    await instances.update(id, version + 1, { status: "CREATED" }, []);
    scene.equal(await instances.loadCredentials(id), undefined);
  });

  clause("deletions that are not finished are listed by ascending id, in pages", async (scene) => {
    const { instances } = scene.storage;
    await scene.storedInstance();
    const first = await scene.storedInstance({ status: "DELETED" });
    await scene.storedInstance({ status: "DELETED", erasedAt: scene.now() });
    const last = await scene.storedInstance({ status: "DELETED", userId: scene.id("usr") });
    scene.equal(idsOf(await instances.halfDeleted({})), [first.id, last.id]);
    scene.equal(idsOf(await instances.halfDeleted({ limit: 1 })), [first.id]);
    scene.equal(idsOf(await instances.halfDeleted({ limit: 5, after: first.id })), [last.id]);
  });

  persistenceClause("credentials are stored together with their state, or not at all", async (scene) => {
    const instance = await scene.storedInstance({ status: "CREATED" });
    const event = scene.event("instance.linked", instance);
    const [first, second] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4)];
    await scene.storage.instances.update(instance.id, 1, { status: "CONFIGURED" }, [event], first);
    scene.equal(await scene.storage.instances.update(instance.id, 1, {}, [], second), undefined);
    const impossibleEvent = scene.impossibleEvent("instance.linked", instance);
    await scene.failure(scene.storage.instances.update(instance.id, 2, {}, [impossibleEvent], second));
    await scene.reopen();
    scene.equal((await scene.storage.instances.get(instance.id))?.status, "CONFIGURED");
    scene.equal(await scene.storage.instances.loadCredentials(instance.id), first);
  });

  clause("linked instances with waiting calls are listed once each, by the age of their oldest call", async (scene) => {
    const { instances, calls } = scene.storage;
    const statuses = ["ACTIVE", "CONFIGURED", "ACTIVE", "CREATED", "ACTIVE"] as const;
    const storedInstances: Instance[] = [];
    for (const status of statuses) storedInstances.push(await scene.storedInstance({ status }));
    const [first, second, claimedInstance, unlinkedInstance, idleInstance] = storedInstances as [
      Instance,
      Instance,
      Instance,
      Instance,
      Instance,
    ];
    scene.equal(await instances.withWaitingCalls(10), []);
    for (let i = 0; i < 5; i++) await scene.storedCall(second);
    await scene.storedCall(first);
    await scene.storedCall(claimedInstance);
    await calls.claimNext(claimedInstance.id, "node_a", scene.now(), 0);
    await scene.storedCall(unlinkedInstance);
    await scene.endedCall(idleInstance);
    scene.equal(await instances.withWaitingCalls(10), [second, first]);
    scene.equal(await instances.withWaitingCalls(1), [second]);
    await calls.claimNext(second.id, "node_a", scene.now(), 0);
    scene.equal(idsOf(await instances.withWaitingCalls(10)), [second.id, first.id]);
    const laterCall = await scene.storedCall(claimedInstance);
    scene.equal(idsOf(await instances.withWaitingCalls(10)), [second.id, first.id, laterCall.instanceId]);
  });

  clause("instances with credentials but without a linked number are listed by ascending id", async (scene) => {
    const { instances } = scene.storage;
    const halfLinkedIds: string[] = [];
    for (const status of ["CREATED", "CONFIGURED", "CREATED"] as const) {
      const { id } = await scene.storedInstance({ status });
      await instances.saveCredentials(id, Uint8Array.of(1));
      if (status === "CREATED") halfLinkedIds.push(id);
      await scene.storedInstance({ status });
    }
    scene.equal(idsOf(await instances.halfLinked({})), halfLinkedIds);
    scene.equal(idsOf(await instances.halfLinked({ limit: 1 })), halfLinkedIds.slice(0, 1));
    scene.equal(idsOf(await instances.halfLinked({ limit: 5, after: halfLinkedIds[0] })), halfLinkedIds.slice(1));
  });

  clause("credentials are kept byte for byte, replaced and erased", async (scene) => {
    const { instances } = scene.storage;
    const { id } = await scene.storedInstance();
    scene.equal(await instances.loadCredentials(id), undefined);
    await instances.saveCredentials(id, Uint8Array.of(1, 2, 3));
    const sealedBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await instances.saveCredentials(id, sealedBytes);
    scene.equal(await instances.loadCredentials(id), sealedBytes);
    await instances.eraseCredentials(id);
    await instances.eraseCredentials(id);
    scene.equal(await instances.loadCredentials(id), undefined);
  });

  clause("an instance with credentials or with records of its line has secrets", async (scene) => {
    const { instances, lineRecords } = scene.storage;
    const [first, second] = [await scene.storedInstance(), await scene.storedInstance()];
    const secrets = async () => [await instances.hasSecrets(first.id), await instances.hasSecrets(second.id)];
    scene.equal(await secrets(), [false, false]);
    await instances.saveCredentials(first.id, Uint8Array.of(1));
    await lineRecords.set(second.id, new Map([["key", Uint8Array.of(1)]]), 10);
    scene.equal(await secrets(), [true, true]);
    for (const { id } of [first, second]) await instances.eraseCredentials(id);
    scene.equal(await secrets(), [false, false]);
  });

  clause("no credentials are saved for a deleted or unknown instance", async (scene) => {
    const { instances } = scene.storage;
    const deletedInstance = await scene.storedInstance({ status: "DELETED" });
    for (const id of [deletedInstance.id, scene.id("inst")]) {
      await instances.saveCredentials(id, Uint8Array.of(1));
      scene.equal(await instances.loadCredentials(id), undefined);
    }
  });
}
