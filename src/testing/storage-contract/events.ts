import { type Clause, idsOf } from "./scene.ts";

/** The append-only log. */
export function eventsContract(clause: Clause): void {
  clause("an event is read as it was stored, whatever characters its data holds", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const event = scene.event("dtmf", call, {
      data: { digit: "#", odd: "\u0000\ud800", ratio: 0.5, last: true, no: null },
    });
    await scene.storage.events.append([event]);
    scene.equal(await scene.storage.events.ofCall(call.id, {}), [event]);
  });

  clause("nothing to append is fine, and much is stored together", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    await scene.storage.events.append([]);
    const many = Array.from({ length: 1_200 }, () => scene.event("dtmf", call));
    await scene.storage.events.append(many);
    scene.equal(idsOf(await scene.storage.events.ofCall(call.id, {})), idsOf(many));
  });

  clause("events are stored all or none", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const many = Array.from({ length: 1_200 }, () => scene.event("dtmf", call));
    await scene.failure(scene.storage.events.append([...many, ...many.slice(0, 1)]));
    scene.equal(await scene.storage.events.ofCall(call.id, {}), []);
  });

  clause("a call's timeline is read oldest first, in pages", async (scene) => {
    const instance = await scene.storedInstance();
    const call = await scene.storedCall(instance);
    const other = await scene.storedCall(instance);
    const stored: string[] = [];
    for (let i = 0; i < 5; i++) {
      const event = scene.event("dtmf", call);
      stored.push(event.id);
      await scene.storage.events.append([scene.event("dtmf", other), event]);
    }
    const { events } = scene.storage;
    scene.equal(idsOf(await events.ofCall(call.id, {})), stored);
    scene.equal(idsOf(await events.ofCall(call.id, { limit: 2 })), stored.slice(0, 2));
    scene.equal(idsOf(await events.ofCall(call.id, { limit: 9, after: stored[1] })), stored.slice(2));
    scene.equal(await events.ofCall(call.id, { after: stored.at(-1) }), []);
    scene.equal(await events.ofCall(scene.id("call"), {}), []);
  });

  clause("a user reads everything of his, or of one instance, oldest first and in pages", async (scene) => {
    const { events } = scene.storage;
    const one = await scene.storedInstance();
    const two = await scene.storedInstance();
    const foreign = await scene.storedInstance({ userId: scene.id("usr") });
    const call = await scene.storedCall(one);
    const log = [
      scene.event("instance.created", one),
      scene.event("instance.created", two),
      scene.event("queued", call),
      scene.event("instance.active", two),
    ] as const;
    await events.append(log.toReversed());
    await events.append([scene.event("instance.created", foreign)]);
    scene.equal(await events.ofUser(scene.userId, {}, {}), log);
    scene.equal(await events.ofUser(scene.userId, {}, { limit: 2, after: log[0].id }), [log[1], log[2]]);
    scene.equal(await events.ofUser(scene.userId, { instanceId: one.id }, {}), [log[0], log[2]]);
    scene.equal(await events.ofUser(scene.userId, { instanceId: two.id }, { after: log[1].id }), [log[3]]);
    scene.equal(await events.ofUser(scene.userId, { instanceId: foreign.id }, {}), []);
  });
}
