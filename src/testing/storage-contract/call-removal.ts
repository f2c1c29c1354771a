import type { Call } from "../../domain/calls/call.ts";
import { mentionedNumber } from "../../domain/numbers/mentioned-number.ts";
import { type Clause, idsOf } from "./scene.ts";

const SPOKEN_TIMES = { startMs: 0, endMs: 500, confidence: null };

/** Counting and deleting calls. */
export function callRemovalContract(clause: Clause): void {
  clause("calls are counted by status", async (scene) => {
    const { calls } = scene.storage;
    scene.equal(await calls.counts(), {});
    const instance = await scene.storedInstance();
    const first = await scene.updateCall(await scene.storedCall(instance), { status: "RINGING" });
    await scene.storedCall(instance);
    await scene.storedCall(instance);
    await scene.endedCall(instance);
    await scene.endedCall(await scene.storedInstance());
    scene.equal(await calls.counts(), { QUEUED: 2, RINGING: 1, FAILED: 2 });
    const liveCall = await scene.updateCall(first, { status: "IN_PROGRESS" });
    await scene.updateCall(liveCall, { status: "COMPLETED", endedAt: scene.now() });
    scene.equal(await calls.counts(), { QUEUED: 2, COMPLETED: 1, FAILED: 2 });
  });

  clause("ended() returns final calls that ended before a given time, oldest first", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const oldCalls = [
      await scene.endedCall(instance),
      await scene.endedCall(instance),
      await scene.endedCall(instance),
    ];
    await scene.storedCall(instance);
    const recentCall = await scene.endedCall(instance);
    scene.equal(await calls.ended(recentCall.endedAt ?? 0, 10), idsOf(oldCalls));
    scene.equal(await calls.ended(recentCall.endedAt ?? 0, 2), idsOf(oldCalls.slice(0, 2)));
  });

  clause("only final calls are deleted, with their events and transcripts", async (scene) => {
    const { calls, events, transcripts } = scene.storage;
    const instance = await scene.storedInstance();
    const oldCall = await scene.endedCall(instance);
    const waitingCall = await scene.storedCall(instance);
    const recentCall = await scene.endedCall(instance);
    for (const call of [oldCall, waitingCall, recentCall]) {
      await events.append([scene.event("queued", call)]);
      await transcripts.append([
        { callId: call.id, position: 0, speaker: "callee", text: "Yes", timestamp: scene.now(), ...SPOKEN_TIMES },
      ]);
    }
    await events.append([scene.event("instance.active", instance)]);

    const removal = await calls.remove([oldCall.id, waitingCall.id, scene.id("call")]);
    scene.equal(removal, { ids: [oldCall.id], events: 1, transcriptLines: 1, receipts: 0 });
    scene.equal(await calls.get(oldCall.id), undefined);
    scene.equal(await scene.timeline(oldCall.id), []);
    scene.equal((await scene.timeline(recentCall.id)).length, 1);
    scene.equal((await scene.log()).length, 3);
    scene.equal((await transcripts.ofCalls([oldCall.id, waitingCall.id, recentCall.id])).length, 2);
    scene.equal(idsOf(await calls.list(scene.userId, {}, {})), [recentCall.id, waitingCall.id]);
    scene.equal(await calls.counts(), { QUEUED: 1, FAILED: 1 });
    scene.equal(await calls.remove([oldCall.id]), { ids: [], events: 0, transcriptLines: 0, receipts: 0 });
    scene.equal(await calls.remove([]), { ids: [], events: 0, transcriptLines: 0, receipts: 0 });
  });

  clause("remove() deletes many calls at once", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const endedCall = await scene.endedCall(instance);
    const ids = Array.from({ length: 1_200 }, () => scene.id("call"));
    scene.equal((await calls.remove([...ids, endedCall.id])).ids, [endedCall.id]);
    scene.equal(await calls.counts(), {});
  });

  clause("naming() returns calls to a number by ascending id, in pages, for all users and instances", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const otherInstance = await scene.storedInstance({ userId: scene.id("usr") });
    const targetPhone = "+15550199";
    const first = await scene.endedCall(instance, { targetPhone });
    await scene.endedCall(instance, { targetPhone: "+155501990" });
    const second = await scene.storedCall(otherInstance, { targetPhone });
    const third = await scene.storedCall(instance, { targetPhone });
    const number = mentionedNumber(targetPhone);
    scene.equal(await calls.naming(number, {}), [first, second, third]);
    scene.equal(await calls.naming(number, { limit: 2 }), [first, second]);
    scene.equal(await calls.naming(number, { limit: 2, after: second.id }), [third]);
    scene.equal(await calls.naming(mentionedNumber("+15550198"), {}), []);
  });

  clause("naming() returns calls that mention a number in a text, an event or a transcript", async (scene) => {
    const { calls, events, transcripts } = scene.storage;
    const phone = "+12025550199";
    const agent = { instructions: ["Transfer them."], transferTo: ["+12025550111", phone] };
    const outcome = { reason: "agent_finished", detail: `transferred to ${phone}`, answeredBy: "unknown" };
    const instance = await scene.storedInstance();
    const mentioningCalls: Call[] = [
      await scene.endedCall(instance, { message: { type: "DYNAMIC_AGENT", ...agent } as never }),
      await scene.endedCall(instance, { outcome: outcome as never }),
      await scene.endedCall(instance, { metadata: { note: "or 12025550199" }, reference: "r" }),
      await scene.endedCall(instance),
      await scene.endedCall(instance),
    ];
    const [, , , transferredCall, spokenCall] = mentioningCalls as [Call, Call, Call, Call, Call];
    await events.append([scene.event("transferred", transferredCall, { data: { to: phone, detail: null } })]);
    const transcriptLine = {
      callId: spokenCall.id,
      position: 0,
      speaker: "callee",
      timestamp: scene.now(),
      ...SPOKEN_TIMES,
    } as const;
    await transcripts.append([{ ...transcriptLine, text: "Call 0012025550199" }]);
    const otherCall = await scene.endedCall(instance, { metadata: { order: "1120255501990" } });
    await events.append([scene.event("transferred", otherCall, { data: { to: "+120255501991", detail: null } })]);
    await scene.endedCall(instance, { from: { number: phone } as never });
    scene.equal(idsOf(await calls.naming(mentionedNumber(phone), {})), idsOf(mentioningCalls));
  });

  clause("recorded() returns ended calls with a stored recording, oldest first", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const recordedFields = { recordedMs: 0 };
    const first = await scene.updateCall(await scene.endedCall(instance, recordedFields), { recordedMs: 86_400_000 });
    await scene.endedCall(instance);
    await scene.endedCall(instance, recordedFields);
    const second = await scene.updateCall(await scene.endedCall(instance, recordedFields), { recordedMs: 1 });
    const recentCall = await scene.updateCall(await scene.endedCall(instance, recordedFields), { recordedMs: 20 });
    scene.equal(await calls.recorded(recentCall.endedAt ?? 0, 10), [first, second]);
    scene.equal(await calls.recorded(recentCall.endedAt ?? 0, 1), [first]);
    await scene.updateCall(first, { recordedMs: 0 });
    scene.equal(await calls.recorded(scene.now(), 10), [second, recentCall]);
    scene.equal(await calls.counts(), { FAILED: 5 });
  });

  clause("paging continues even if the last call of a page is purged", async (scene) => {
    const instance = await scene.storedInstance();
    const calls = [await scene.endedCall(instance), await scene.endedCall(instance)] as const;
    const boundaryCall = await scene.storedCall(instance);
    const newestCall = await scene.storedCall(instance);
    const earlyMs = (calls[0].endedAt ?? 0) - 1;
    await scene.updateCall(boundaryCall, { status: "FAILED", endedAt: earlyMs });
    scene.equal((await scene.storage.calls.remove([boundaryCall.id])).ids, [boundaryCall.id]);
    const earlierCalls = await scene.storage.calls.list(scene.userId, {}, { after: boundaryCall.id });
    scene.equal(idsOf(earlierCalls), idsOf(calls).toReversed());
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, { limit: 1 })), [newestCall.id]);
  });
}
