import type { Call } from "../../domain/calls/call.ts";
import type { Event, LoggedEvent } from "../../domain/events.ts";
import { type Clause, idsOf, type StorageScene } from "./scene.ts";

const WRITERS = 8;
const ROUNDS = 20;

/** Guarantees for a reader of the log that continues after the last position it has seen. */
export function eventOrderContract(clause: Clause): void {
  clause("a reader that follows the log sees each event of eight writers exactly once", async (scene) => {
    const calls: Call[] = [];
    while (calls.length < WRITERS) calls.push(await scene.storedCall(await scene.storedInstance()));
    const writtenIds: string[] = [];
    const recordId = (event: Event): Event => {
      writtenIds.push(event.id);
      return event;
    };

    let activeWriters = WRITERS;
    const readers = [readLog(scene, {}, () => activeWriters > 0), readLog(scene, calls[0]!, () => activeWriters > 0)];
    const writers = calls.map(async (createdCall) => {
      let call = createdCall;
      for (let round = 0; round < ROUNDS; round++) {
        // A repeated write has an earlier id, and other writes have happened in the meantime.
        const [earlyEvent, lateEvent] = [scene.event("dtmf", call), scene.event("dtmf", call)];
        await scene.storage.events.append([recordId(lateEvent)]);
        call = await scene.updateCall(call, { recordedMs: round }, [
          recordId(scene.event("callee_speech", call)),
          recordId(earlyEvent),
        ]);
      }
      if (createdCall !== calls[0]) return;
      await scene.storage.events.append(Array.from({ length: 600 }, () => recordId(scene.event("dtmf", call))));
    });
    for (const writer of writers) void writer.finally(() => activeWriters--).catch(() => {});
    await Promise.all(writers);

    const [log, timeline] = (await Promise.all(readers)) as [LoggedEvent[], LoggedEvent[]];
    const [allIds, callEventIds] = [idsOf(log), idsOf(timeline)];
    scene.equal(allIds?.toSorted(), writtenIds.toSorted());
    scene.equal(allIds, idsOf(await scene.log()));
    scene.equal(callEventIds, idsOf(await scene.timeline(calls[0]!.id)));
    for (const { id } of calls) {
      const numbers = (loggedEvents: readonly LoggedEvent[]) =>
        loggedEvents.filter(({ callId }) => callId === id).map(({ sequence }) => sequence);
      const [logNumbers, timelineNumbers] = [numbers(log), numbers(timeline)];
      scene.equal(
        logNumbers,
        logNumbers.map((_, index) => index + 1),
      );
      if (id === calls[0]!.id) scene.equal(timelineNumbers, logNumbers);
    }
  });

  clause("the events of a call are numbered from 1 without gaps, in every log and page", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const [firstCall, secondCall] = [await scene.storedCall(instance), await scene.storedCall(instance)];
    const first = scene.event("queued", firstCall);
    await events.append([first, scene.event("queued", secondCall), scene.event("instance.active", instance)]);
    await scene.updateCall(firstCall, { status: "RINGING" }, [first, scene.event("ringing", firstCall)]);
    await events.append([
      first,
      scene.event("ringing", secondCall),
      scene.event("dtmf", firstCall),
      scene.event("dtmf", firstCall),
    ]);
    const expected = [1, 1, null, 2, 2, 3, 4];
    const log = await events.ofUser(scene.userId, {}, {});
    scene.equal(sequencesOf(log), expected);
    for (const [index, { position }] of log.entries()) {
      const page = { after: position, limit: 3 };
      const laterSequences = expected.slice(index + 1, index + 4);
      scene.equal(sequencesOf(await events.ofUser(scene.userId, {}, page)), laterSequences);
      scene.equal(sequencesOf(await events.ofUser(scene.userId, { instanceId: instance.id }, page)), laterSequences);
    }
    const eventsOfFirst = await events.ofCall(firstCall.id, {});
    scene.equal(sequencesOf(eventsOfFirst), [1, 2, 3, 4]);
    scene.equal(sequencesOf(await events.ofCall(firstCall.id, { after: eventsOfFirst[1]?.position, limit: 1 })), [3]);
    await calls.update(secondCall.id, secondCall.version, { status: "FAILED", endedAt: scene.now() }, []);
    await calls.remove([secondCall.id]);
    scene.equal(sequencesOf(await events.ofUser(scene.userId, {}, { after: log[2]?.position })), [2, 3, 4]);
  });

  clause("an older event that is stored later follows in the log", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const [earlyEvent, middleEvent, lateEvent] = [
      scene.event("dtmf", call),
      scene.event("dtmf", call),
      scene.event("dtmf", call),
    ];
    await events.append([lateEvent]);
    const [lastRead] = await events.ofUser(scene.userId, {}, {});
    await events.append([middleEvent, earlyEvent]);
    const page = { after: lastRead?.position ?? NaN };
    scene.equal(idsOf(await events.ofUser(scene.userId, {}, page)), [middleEvent.id, earlyEvent.id]);
    scene.equal(idsOf(await events.ofCall(call.id, page)), [middleEvent.id, earlyEvent.id]);
  });

  clause("a new event follows every event that a reader has seen, even deleted ones", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const oldCall = await scene.endedCall(instance);
    await events.append([scene.event("failed", oldCall)]);
    const [lastRead] = await events.ofUser(scene.userId, {}, {});
    await calls.remove([oldCall.id]);
    const next = scene.event("instance.active", instance);
    await events.append([next]);
    scene.equal(idsOf(await events.ofUser(scene.userId, {}, { after: lastRead?.position ?? NaN })), [next.id]);
  });

  clause("an event is readable after its write", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    let after = 0;
    for (let round = 0; round < 20; round++) {
      const otherWrite = scene.storage.events.append([scene.event("beep", call)]);
      const event = scene.event("dtmf", call);
      await events.append([event]);
      const rows = await events.ofUser(scene.userId, {}, { after });
      scene.equal(
        idsOf(rows).filter((id) => id === event.id),
        [event.id],
      );
      await otherWrite;
      after = rows.at(-1)?.position ?? NaN;
    }
  });

  clause("an old cursor, an event id, resolves to the event's position", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const otherInstance = await scene.storedInstance({ userId: scene.id("usr") });
    const [otherEvent, firstEvent, secondEvent] = [
      scene.event("instance.created", otherInstance),
      ...[1, 2].map(() => scene.event("dtmf", call)),
    ];
    await events.append([secondEvent!, otherEvent, firstEvent!]);
    const [first] = await events.ofUser(scene.userId, {}, {});
    scene.equal(await events.positionOf(scene.userId, secondEvent!.id), first?.position);
    // An event that the user does not have must not hide any that the user has.
    for (const id of [otherEvent.id, scene.id("evt")]) scene.equal(await events.positionOf(scene.userId, id), 0);
  });
}

function sequencesOf(events: readonly LoggedEvent[]): (number | null)[] {
  return events.map(({ sequence }) => sequence);
}

/** Reads the user's log, or that of one call, in pages of seven until the writers have finished. */
async function readLog(
  { storage: { events }, userId }: StorageScene,
  { id: callId }: Partial<Call>,
  isWriting: () => boolean,
): Promise<LoggedEvent[]> {
  const readEvents: LoggedEvent[] = [];
  for (;;) {
    const isLast = !isWriting();
    const page = { limit: 7, after: readEvents.at(-1)?.position };
    const rows = await (callId === undefined ? events.ofUser(userId, {}, page) : events.ofCall(callId, page));
    if (rows.length === 0 && isLast) return readEvents;
    readEvents.push(...rows);
    await new Promise<void>((resume) => setTimeout(resume)); // the writers share this thread
  }
}
