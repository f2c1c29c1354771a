import type { Event } from "../../domain/events.ts";
import { type Clause, idsOf } from "./scene.ts";

/** The append-only log. */
export function eventsContract(clause: Clause): void {
  clause("an event is read back unchanged, whatever characters its data contains", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const event = scene.event("dtmf", call, {
      data: { digit: "#", odd: "\u0000\ud800", ratio: 0.5, last: true, no: null },
    });
    await scene.storage.events.append([event]);
    scene.equal(await scene.timeline(call.id), [event]);
  });

  clause("appending no events or many at once works", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    await scene.storage.events.append([]);
    const manyEvents = Array.from({ length: 1_200 }, () => scene.event("dtmf", call));
    await scene.storage.events.append(manyEvents);
    scene.equal(idsOf(await scene.timeline(call.id)), idsOf(manyEvents));
  });

  clause("either all events or none are stored", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const manyEvents = Array.from({ length: 1_200 }, () => scene.event("dtmf", call));
    await scene.failure(scene.storage.events.append([...manyEvents, scene.impossibleEvent("dtmf", call)]));
    scene.equal(await scene.timeline(call.id), []);
  });

  clause("an event that is already stored stays unchanged, and keeps its place", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const [first, second, third] = [scene.event("dtmf", call), scene.event("dtmf", call), scene.event("dtmf", call)];
    await events.append([first, second]);
    const storedEvents = await events.ofCall(call.id, {});
    const changedEvent = (event: Event) => ({ ...event, data: { digit: "9" } }) as Event;
    await events.append([changedEvent(second)]);
    await events.append([third, changedEvent(first), third]);
    scene.equal((await events.ofCall(call.id, {})).slice(0, 2), storedEvents);
    scene.equal(await scene.timeline(call.id), [first, second, third]);
  });

  clause("the events of a repeated write are stored once", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const call = await scene.storedCall(instance);
    const dtmfEvent = scene.event("dtmf", call);
    const ringingEvent = scene.event("ringing", call);
    await events.append([dtmfEvent]);
    await calls.update(call.id, 1, { status: "RINGING" }, [dtmfEvent, ringingEvent]);
    await calls.update(call.id, 2, { recordedMs: 1 }, [dtmfEvent, ringingEvent]);
    scene.equal(await scene.timeline(call.id), [dtmfEvent, ringingEvent]);
    const createdEvent = scene.event("instance.created", instance);
    await scene.storage.instances.update(instance.id, 1, { name: "Other" }, [ringingEvent, createdEvent]);
    scene.equal(await scene.log(), [dtmfEvent, ringingEvent, createdEvent]);
  });

  clause("a timeline is read oldest first, in pages", async (scene) => {
    const instance = await scene.storedInstance();
    const call = await scene.storedCall(instance);
    const other = await scene.storedCall(instance);
    const storedIds: string[] = [];
    for (let i = 0; i < 5; i++) {
      const event = scene.event("dtmf", call);
      storedIds.push(event.id);
      await scene.storage.events.append([scene.event("dtmf", other), event]);
    }
    const { events } = scene.storage;
    const timeline = await events.ofCall(call.id, {});
    scene.equal(idsOf(timeline), storedIds);
    scene.equal(idsOf(await events.ofCall(call.id, { limit: 2 })), storedIds.slice(0, 2));
    scene.equal(
      idsOf(await events.ofCall(call.id, { limit: 9, after: timeline[1]?.position ?? NaN })),
      storedIds.slice(2),
    );
    scene.equal(await events.ofCall(call.id, { after: timeline.at(-1)?.position ?? NaN }), []);
    scene.equal(await events.ofCall(scene.id("call"), {}), []);
  });

  clause("a user reads their own events, or those of one instance, in order and in pages", async (scene) => {
    const { events } = scene.storage;
    const instance = await scene.storedInstance();
    const secondInstance = await scene.storedInstance();
    const otherInstance = await scene.storedInstance({ userId: scene.id("usr") });
    const call = await scene.storedCall(instance);
    const log = [
      scene.event("instance.created", instance),
      scene.event("instance.created", secondInstance),
      scene.event("queued", call),
      scene.event("instance.active", secondInstance),
    ] as const;
    const otherEvent = scene.event("instance.created", otherInstance);
    await events.append([log[0], otherEvent, log[1]]);
    await events.append(log.slice(2));
    scene.equal(await scene.log(), log);
    scene.equal(await scene.log(otherInstance.userId), [otherEvent]);
    const [first, second, third, fourth] = await events.ofUser(scene.userId, {}, {});
    scene.equal(await events.ofUser(scene.userId, {}, { limit: 2, after: first?.position ?? NaN }), [second, third]);
    scene.equal(await events.ofUser(scene.userId, { instanceId: instance.id }, {}), [first, third]);
    const page = { after: second?.position ?? NaN };
    scene.equal(await events.ofUser(scene.userId, { instanceId: secondInstance.id }, page), [fourth]);
    scene.equal(await events.ofUser(scene.userId, { instanceId: otherInstance.id }, {}), []);
    scene.equal(await events.lookUp(scene.userId), { last: fourth!.position, eventId: fourth!.id });
    scene.equal(await events.lookUp(scene.id("usr")), { last: 0, eventId: null });
    const end = { last: fourth!.position };
    scene.equal(await events.lookUp(scene.userId, second!.position), { ...end, eventId: second!.id });
    scene.equal(await events.lookUp(scene.userId, fourth!.position + 1), { ...end, eventId: null });
  });

  clause("the position of an unknown event precedes all events", async (scene) => {
    const { events } = scene.storage;
    const instance = await scene.storedInstance();
    const [firstEvent, unstoredEvent, lastEvent] = [1, 2, 3].map(() => scene.event("instance.active", instance));
    await events.append([firstEvent!, lastEvent!]);
    const [first] = await events.ofUser(scene.userId, {}, {});
    scene.equal(await events.positionBefore(scene.userId, unstoredEvent!.id), first!.position);
    scene.equal(await events.positionBefore(scene.id("usr"), unstoredEvent!.id), 0);
  });
}
