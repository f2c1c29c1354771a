import type { Call } from "../../domain/calls/call.ts";
import type { Outcome } from "../../domain/calls/outcome.ts";
import { UNANSWERED_REASONS } from "../../domain/calls/outcome.ts";
import { MAX_POSTPONEMENT_MS } from "../../domain/dialling-rules/calling-hours.ts";
import { type Clause, idsOf } from "./scene.ts";

const UNANSWERED: Omit<Outcome, "reason"> = {
  detail: null,
  answeredBy: null,
  heardMs: 0,
  heardRatio: 0,
  durationMs: 0,
};

/** Claims, the dispatcher's queries and recovery. */
export function callQueueContract(clause: Clause): void {
  clause("the oldest waiting call is claimed first", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    await scene.storedCall(await scene.storedInstance());
    const first = await scene.storedCall(instance);
    const second = await scene.storedCall(instance);
    const [firstTime, secondTime] = [scene.now(), scene.now()];
    const claimedCall = { ...first, owner: "node_a", dialingAt: firstTime, line: 0, version: 2 };
    scene.equal(await calls.claimNext(instance.id, "node_a", firstTime, 0), claimedCall);
    scene.equal(await calls.claimNext(instance.id, "node_b", secondTime, 7), {
      ...second,
      owner: "node_b",
      dialingAt: secondTime,
      line: 7,
      version: 2,
    });
    scene.equal(await calls.claimNext(instance.id, "node_a", secondTime, 0), undefined);
    scene.equal(await calls.claimNext(scene.id("inst"), "node_a", secondTime, 0), undefined);
    scene.equal(await calls.get(first.id), claimedCall);
  });

  clause("calls are claimed in id order, even if the clock was set back", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const first = await scene.storedCall(instance, { createdAt: scene.now() + 3_600_000 });
    const second = await scene.storedCall(instance);
    scene.equal(idsOf(await calls.active(instance.id)), [first.id, second.id]);
    scene.equal((await calls.claimNext(instance.id, "node_a", scene.now(), 0))?.id, first.id);
    scene.equal((await calls.claimNext(instance.id, "node_a", scene.now(), 1))?.id, second.id);
  });

  clause("claimNext() can claim a given call, and nextWaiting() can skip calls", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const [first, second, third] = [
      await scene.storedCall(instance),
      await scene.storedCall(instance),
      await scene.storedCall(instance),
    ];
    scene.equal(await calls.nextWaiting(instance.id, [second.id]), first);
    scene.equal(await calls.nextWaiting(instance.id, [first.id, second.id]), third);
    scene.equal(await calls.nextWaiting(instance.id, [first.id, second.id, third.id]), undefined);
    scene.equal((await calls.claimNext(instance.id, "node_a", scene.now(), 0, second.id))?.id, second.id);
    scene.equal(await calls.claimNext(instance.id, "node_a", scene.now(), 1, second.id), undefined);
    const other = await scene.storedCall(await scene.storedInstance());
    scene.equal(await calls.claimNext(instance.id, "node_a", scene.now(), 1, other.id), undefined);
    scene.equal(await calls.get(first.id), first);
    scene.equal((await calls.claimNext(instance.id, "node_a", scene.now(), 1))?.id, first.id);
  });

  clause("nextWaiting() returns the call that claimNext() would claim", async (scene) => {
    const { calls, instances } = scene.storage;
    const instance = await scene.storedInstance();
    scene.equal(await calls.nextWaiting(instance.id), undefined);
    const first = await scene.storedCall(instance, { createdAt: scene.now() + 3_600_000 });
    const second = await scene.storedCall(instance);
    await scene.storedCall(await scene.storedInstance());
    scene.equal(await calls.nextWaiting(instance.id), first);
    await calls.claimNext(instance.id, "node_a", scene.now(), 0);
    scene.equal(await calls.nextWaiting(instance.id), second);
    await instances.update(instance.id, instance.version, { status: "DELETED" }, []);
    scene.equal(await calls.nextWaiting(instance.id), undefined);
  });

  clause("a postponed call is skipped until its time, but no longer than the maximum", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const now = scene.now();
    const first = await scene.storedCall(instance);
    const second = await scene.storedCall(instance);
    const notBefore = now + MAX_POSTPONEMENT_MS;
    const postponedCall = await scene.updateCall(first, { notBefore });
    scene.equal(await calls.get(first.id), { ...first, notBefore, version: 2 });
    scene.equal(await calls.nextWaiting(instance.id), postponedCall);
    scene.equal(await calls.nextWaiting(instance.id, [], now), second);
    scene.equal(await calls.nextWaiting(instance.id, [], notBefore), postponedCall);
    scene.equal(await calls.nextWaiting(instance.id, [], now - 1), postponedCall); // the clock was set back
    scene.equal(await calls.nextNotBefore(instance.id, now), notBefore);
    scene.equal(await calls.nextNotBefore(instance.id, notBefore), undefined);
    scene.equal(await calls.nextNotBefore((await scene.storedInstance()).id, now), undefined);
    scene.equal((await calls.claimNext(instance.id, "node_a", now, 0))?.id, second.id);
    scene.equal(await calls.claimNext(instance.id, "node_a", now, 1), undefined);
    scene.equal(await calls.claimNext(instance.id, "node_a", now, 1, first.id), undefined);
    scene.equal((await calls.claimNext(instance.id, "node_a", notBefore, 1))?.id, first.id);
    scene.equal(await calls.nextNotBefore(instance.id, now), undefined);
  });

  clause("waiting calls with an expiry are listed separately, by expiry", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const lateCall = await scene.storedCall(instance, { expiresAt: scene.now() + 2_000 });
    const earlyCall = await scene.storedCall(instance, { expiresAt: scene.now() + 1_000 });
    const plainCall = await scene.storedCall(instance);
    const earlyEnd = earlyCall.expiresAt ?? 0;
    scene.equal(await calls.get(lateCall.id), lateCall);
    scene.equal(await calls.expiring(Number.MAX_SAFE_INTEGER, 10), [earlyCall, lateCall]);
    scene.equal(await calls.expiring(Number.MAX_SAFE_INTEGER, 1), [earlyCall]);
    scene.equal(await calls.expiring(Number.MAX_SAFE_INTEGER, 10, earlyCall), [lateCall]);
    scene.equal(await calls.expiring(earlyEnd, 10), []);
    scene.equal(await calls.expiring(earlyEnd + 1, 10), [earlyCall]);
    scene.equal(await calls.oldestWaiting(), plainCall.createdAt);
    scene.equal(await calls.waitingSince(Number.MAX_SAFE_INTEGER, 10), [lateCall, earlyCall, plainCall]);
    scene.equal(await calls.waitingSince(Number.MAX_SAFE_INTEGER, 10, undefined, "unlimited"), [plainCall]);
    await calls.claimNext(instance.id, "node_a", scene.now(), 0, earlyCall.id);
    scene.equal(await calls.expiring(Number.MAX_SAFE_INTEGER, 10), [lateCall]);
  });

  clause("claimed() returns a process's queued calls by ascending id", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    for (let i = 0; i < 4; i++) await scene.storedCall(instance);
    const owners = ["node_a", "node_b", "node_a"];
    const claims: (Call | undefined)[] = [];
    for (const [i, owner] of owners.entries())
      claims.push(await calls.claimNext(instance.id, owner, scene.now(), 2 - i));
    const other = await scene.storedInstance();
    await scene.storedCall(other);
    await calls.claimNext(other.id, "node_a", scene.now(), 0);
    scene.equal(await calls.claimed(instance.id, "node_a"), [claims[0], claims[2]]);
    if (claims[0]) await scene.updateCall(claims[0], { status: "RINGING" });
    scene.equal(await calls.claimed(instance.id, "node_a"), [claims[2]]);
    scene.equal(await calls.claimed(instance.id, "node_c"), []);
  });

  clause("with 20 concurrent claims for 10 calls, each call is claimed exactly once", async (scene) => {
    const instance = await scene.storedInstance();
    const storedIds: string[] = [];
    for (let i = 0; i < 10; i++) storedIds.push((await scene.storedCall(instance)).id);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => scene.storage.calls.claimNext(instance.id, `node_${i}`, scene.now(), i)),
    );
    const successfulClaims = claims.filter((claim) => claim !== undefined);
    scene.equal(idsOf(successfulClaims).toSorted(), storedIds);
    scene.equal(new Set(successfulClaims.map((claim) => claim.owner)).size, 10);
  });

  clause("a deleted instance's call is never claimed", async (scene) => {
    const { instances, calls } = scene.storage;
    const instance = await scene.storedInstance();
    const { id } = await scene.storedCall(instance);
    await instances.update(instance.id, instance.version, { status: "DELETED" }, []);
    scene.equal(await calls.claimNext(instance.id, "node_a", scene.now(), 0), undefined);
    scene.equal((await calls.get(id))?.owner, null);
  });

  clause("only calls that are queued can be claimed", async (scene) => {
    const instance = await scene.storedInstance();
    await scene.updateCall(await scene.storedCall(instance), { status: "RINGING" });
    await scene.endedCall(instance);
    scene.equal(await scene.storage.calls.claimNext(instance.id, "node_a", scene.now(), 0), undefined);
  });

  clause("dialHistory() returns an instance's dialled calls, newest first, up to a limit", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const since = scene.now();
    const answeredCall = await scene.storedCall(instance);
    const failedCall = await scene.storedCall(instance);
    const waitingCall = await scene.storedCall(instance);
    const other = await scene.storedInstance();
    await scene.storedCall(other);
    const [startedAt, first, second, endedAt] = [scene.now(), scene.now(), scene.now(), scene.now()];
    await scene.updateCall(answeredCall, { status: "IN_PROGRESS", dialingAt: first, startedAt });
    await scene.updateCall(failedCall, { status: "FAILED", dialingAt: second, endedAt });
    await calls.claimNext(other.id, "node_a", second, 0);
    const dials = [
      { callId: failedCall.id, at: second, endedAt, answered: false },
      { callId: answeredCall.id, at: first, endedAt: null, answered: true },
    ];
    scene.equal(await calls.dialHistory(instance.id, since, 10), dials);
    scene.equal(await calls.dialHistory(instance.id, since, 1), dials.slice(0, 1));
    scene.equal(await calls.dialHistory(instance.id, first, 10), dials.slice(0, 1));
    scene.equal(await calls.dialHistory(instance.id, second, 10), []);
    scene.equal(await calls.dialHistory(instance.id, since, 10, first), dials.slice(1));
    scene.equal(await calls.dialHistory(instance.id, since, 1, second), dials.slice(0, 1));
    scene.equal(await calls.dialHistory(instance.id, since, 10, first - 1), []);
    await calls.claimNext(instance.id, "node_a", endedAt, 0);
    scene.equal((await calls.dialHistory(instance.id, since, 10))[0]?.callId, waitingCall.id);
    await scene.updateCall({ ...waitingCall, version: 2 }, { owner: null, dialingAt: null, line: null });
    scene.equal(await calls.dialHistory(instance.id, since, 10), dials);
  });

  clause("dialHistory() can skip dials that do not count towards the answer rate", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const since = scene.now();
    const dial = async (patch: Partial<Call>): Promise<string> => {
      const call = await scene.storedCall(instance);
      await scene.updateCall(call, { dialingAt: scene.now(), ...patch });
      return call.id;
    };
    const failedDial = (reason: Outcome["reason"]) =>
      dial({ status: "FAILED", endedAt: scene.now(), outcome: { ...UNANSWERED, reason } });
    const countedIds = [await dial({ status: "COMPLETED", startedAt: scene.now(), endedAt: scene.now() })];
    for (const reason of UNANSWERED_REASONS) countedIds.unshift(await failedDial(reason));
    for (const reason of ["unreachable", "rejected_by_network", "instance_lost", "terminated"] as const)
      await failedDial(reason);
    await dial({ status: "RINGING" });
    const ids = async (limit: number, until?: number): Promise<string[]> =>
      (await calls.dialHistory(instance.id, since, limit, until, "reached")).map(({ callId }) => callId);
    scene.equal(await ids(10), countedIds);
    scene.equal(await ids(2), countedIds.slice(0, 2));
    scene.equal(await ids(10, since), []);
    scene.equal((await calls.dialHistory(instance.id, since, 20)).length, countedIds.length + 5);
  });

  clause("a dial that the network refused for any reason but the number is marked as refused", async (scene) => {
    const instance = await scene.storedInstance();
    const since = scene.now();
    for (const [reason, refusal] of [
      ["unreachable", undefined],
      ["rejected_by_network", undefined],
      ["rejected_by_network", "call"],
      ["rejected_by_network", "number"],
    ] as const) {
      const outcome = { ...UNANSWERED, reason, ...(refusal && { refusal }) };
      await scene.updateCall(await scene.storedCall(instance), {
        ...{ status: "FAILED", dialingAt: scene.now(), endedAt: scene.now(), outcome },
      });
    }
    const dials = await scene.storage.calls.dialHistory(instance.id, since, 10);
    scene.equal(
      dials.map(({ refused = false }) => refused),
      [true, false, true, false],
    );
  });

  clause("an instance's active calls are listed in id order", async (scene) => {
    const instance = await scene.storedInstance();
    const lateCall = await scene.storedCall(instance, { createdAt: scene.now() + 1_000 });
    const earlyCall = await scene.storedCall(instance);
    const ringingCall = await scene.updateCall(earlyCall, { status: "RINGING" });
    await scene.endedCall(instance);
    await scene.storedCall(await scene.storedInstance());
    scene.equal(await scene.storage.calls.active(instance.id), [lateCall, ringingCall]);
  });

  clause("waitingSince() returns the calls created before a given time, oldest first, up to a limit", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    scene.equal(await calls.oldestWaiting(), undefined);
    await scene.endedCall(instance);
    const claimedCall = await scene.storedCall(instance);
    await calls.claimNext(instance.id, "node_a", scene.now(), 0);
    const first = await scene.storedCall(instance);
    const second = await scene.storedCall(await scene.storedInstance());
    const third = await scene.storedCall(instance);
    scene.equal(await calls.oldestWaiting(), first.createdAt);
    scene.equal(await calls.waitingSince(third.createdAt, 10), [first, second]);
    scene.equal(await calls.waitingSince(third.createdAt + 1, 2), [first, second]);
    scene.equal(await calls.waitingSince(third.createdAt + 1, 2, first), [second, third]);
    scene.equal(await calls.waitingSince(third.createdAt + 1, 2, third), []);
    await scene.updateCall({ ...claimedCall, version: 2 }, { status: "RINGING" });
    scene.equal(await calls.waitingSince(third.createdAt + 1, 10), [first, second, third]);
  });

  clause("orphaned() returns live calls of other processes, up to a limit", async (scene) => {
    const orphanIds: string[] = [];
    for (const status of ["RINGING", "IN_PROGRESS", "RINGING"] as const) {
      const call = await scene.storedCall(await scene.storedInstance(), { owner: "node_dead" });
      orphanIds.push((await scene.updateCall(call, { status })).id);
    }
    const instance = await scene.storedInstance();
    await scene.storedCall(instance);
    await scene.endedCall(instance);
    scene.equal(idsOf(await scene.storage.calls.orphaned("node_new", 10)).toSorted(), orphanIds);
    scene.equal((await scene.storage.calls.orphaned("node_new", 2)).length, 2);
  });

  clause("orphaned() also returns calls that still wait for a deleted instance, up to a limit", async (scene) => {
    const { instances, calls } = scene.storage;
    const instance = await scene.storedInstance();
    const waitingCall = await scene.storedCall(instance);
    const claimedCall = await scene.storedCall(instance);
    await scene.storedCall(await scene.storedInstance());
    await scene.endedCall(instance);
    scene.equal(await calls.orphaned("node_new", 10), []);
    await instances.update(instance.id, instance.version, { status: "DELETED", phone: null }, []);
    await scene.updateCall(claimedCall, { owner: "node_dead" });
    scene.equal(idsOf(await calls.orphaned("node_new", 10)).toSorted(), [waitingCall.id, claimedCall.id].toSorted());
    scene.equal((await calls.orphaned("node_new", 1)).length, 1);
    const ringingCall = await scene.updateCall(await scene.storedCall(await scene.storedInstance()), {
      status: "RINGING",
    });
    scene.equal(
      idsOf(await calls.orphaned("node_new", 10)).toSorted(),
      [waitingCall.id, claimedCall.id, ringingCall.id].toSorted(),
    );
    scene.equal((await calls.orphaned("node_new", 2)).length, 2);
  });

  clause("orphaned() returns claimed calls that were not placed; releasing one queues it again", async (scene) => {
    const { calls } = scene.storage;
    const instance = await scene.storedInstance();
    const claimedCall = await scene.storedCall(instance);
    const freeCall = await scene.storedCall(instance);
    scene.equal(await calls.orphaned("node_new", 10), []);
    const claim = await calls.claimNext(instance.id, "node_dead", scene.now(), 0);
    scene.equal(await calls.orphaned("node_new", 10), [claim]);
    scene.equal(await calls.orphaned("node_dead", 10), []);
    scene.equal(await calls.get(freeCall.id), freeCall);
    await scene.updateCall({ ...claimedCall, version: 2 }, { owner: null, dialingAt: null, line: null });
    scene.equal(await calls.orphaned("node_new", 10), []);
    scene.equal((await calls.claimNext(instance.id, "node_b", scene.now(), 0))?.id, claimedCall.id);
  });
}
