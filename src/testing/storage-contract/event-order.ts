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
    const written: string[] = [];
    const note = (event: Event): Event => {
      written.push(event.id);
      return event;
    };

    let writing = WRITERS;
    const readers = [reading(scene, {}, () => writing > 0), reading(scene, calls[0]!, () => writing > 0)];
    const writers = calls.map(async (created) => {
      let call = created;
      for (let round = 0; round < ROUNDS; round++) {
        // A repeated write has an earlier id, and other writes have happened since.
        const [early, late] = [scene.event("dtmf", call), scene.event("dtmf", call)];
        await scene.storage.events.append([note(late)]);
        call = await scene.moved(call, { recordedMs: round }, [note(scene.event("callee_speech", call)), note(early)]);
      }
      if (created !== calls[0]) return;
      await scene.storage.events.append(Array.from({ length: 600 }, () => note(scene.event("dtmf", call))));
    });
    for (const writer of writers) void writer.finally(() => writing--).catch(() => {});
    await Promise.all(writers);

    const [log, timeline] = (await Promise.all(readers)) as [LoggedEvent[], LoggedEvent[]];
    const [all, ofOne] = [idsOf(log), idsOf(timeline)];
    scene.equal(all?.toSorted(), written.toSorted());
    scene.equal(all, idsOf(await scene.log()));
    scene.equal(ofOne, idsOf(await scene.timeline(calls[0]!.id)));
    for (const { id } of calls) {
      const numbers = (read: readonly LoggedEvent[]) =>
        read.filter(({ callId }) => callId === id).map(({ sequence }) => sequence);
      const [inAll, inOwn] = [numbers(log), numbers(timeline)];
      scene.equal(
        inAll,
        inAll.map((_, index) => index + 1),
      );
      if (id === calls[0]!.id) scene.equal(inOwn, inAll);
    }
  });

  clause("the events of a call are numbered from 1 without gaps, in every log and page", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const [firstCall, secondCall] = [await scene.storedCall(instance), await scene.storedCall(instance)];
    const first = scene.event("queued", firstCall);
    await events.append([first, scene.event("queued", secondCall), scene.event("instance.active", instance)]);
    await scene.moved(firstCall, { status: "RINGING" }, [first, scene.event("ringing", firstCall)]);
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
      const rest = expected.slice(index + 1, index + 4);
      scene.equal(sequencesOf(await events.ofUser(scene.userId, {}, page)), rest);
      scene.equal(sequencesOf(await events.ofUser(scene.userId, { instanceId: instance.id }, page)), rest);
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
    const [early, middle, late] = [scene.event("dtmf", call), scene.event("dtmf", call), scene.event("dtmf", call)];
    await events.append([late]);
    const [read] = await events.ofUser(scene.userId, {}, {});
    await events.append([middle, early]);
    const behind = { after: read?.position ?? NaN };
    scene.equal(idsOf(await events.ofUser(scene.userId, {}, behind)), [middle.id, early.id]);
    scene.equal(idsOf(await events.ofCall(call.id, behind)), [middle.id, early.id]);
  });

  clause("a new event follows all that a reader has seen, even if the last of them are deleted", async (scene) => {
    const { calls, events } = scene.storage;
    const instance = await scene.storedInstance();
    const old = await scene.endedCall(instance);
    await events.append([scene.event("failed", old)]);
    const [read] = await events.ofUser(scene.userId, {}, {});
    await calls.remove([old.id]);
    const next = scene.event("instance.active", instance);
    await events.append([next]);
    scene.equal(idsOf(await events.ofUser(scene.userId, {}, { after: read?.position ?? NaN })), [next.id]);
  });

  clause("an event is readable after its write", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    let after = 0;
    for (let round = 0; round < 20; round++) {
      const beside = scene.storage.events.append([scene.event("beep", call)]);
      const event = scene.event("dtmf", call);
      await events.append([event]);
      const found = await events.ofUser(scene.userId, {}, { after });
      scene.equal(
        idsOf(found).filter((id) => id === event.id),
        [event.id],
      );
      await beside;
      after = found.at(-1)?.position ?? NaN;
    }
  });

  clause("an old cursor, an event id, resolves to the event's position", async (scene) => {
    const { events } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const foreign = await scene.storedInstance({ userId: scene.id("usr") });
    const [theirs, one, two] = [
      scene.event("instance.created", foreign),
      ...[1, 2].map(() => scene.event("dtmf", call)),
    ];
    await events.append([two!, theirs, one!]);
    const [first] = await events.ofUser(scene.userId, {}, {});
    scene.equal(await events.positionOf(scene.userId, two!.id), first?.position);
    // An event that the user does not have must not hide any that the user has.
    for (const id of [theirs.id, scene.id("evt")]) scene.equal(await events.positionOf(scene.userId, id), 0);
  });
}

function sequencesOf(events: readonly LoggedEvent[]): (number | null)[] {
  return events.map(({ sequence }) => sequence);
}

/** Reads the user's log, or that of one call, in pages of seven until the writers have finished. */
async function reading(
  { storage: { events }, userId }: StorageScene,
  { id: callId }: Partial<Call>,
  writing: () => boolean,
): Promise<LoggedEvent[]> {
  const seen: LoggedEvent[] = [];
  for (;;) {
    const last = !writing();
    const page = { limit: 7, after: seen.at(-1)?.position };
    const found = await (callId === undefined ? events.ofUser(userId, {}, page) : events.ofCall(callId, page));
    if (found.length === 0 && last) return seen;
    seen.push(...found);
    await new Promise<void>((resume) => setTimeout(resume)); // the writers share this thread
  }
}
