import { CALL_STATUSES, CALL_TYPES, type Call, type CallFilter, type Message } from "../../domain/calls/call.ts";
import type { Outcome } from "../../domain/calls/outcome.ts";
import { type Clause, idsOf, type StorageScene } from "./scene.ts";

const MESSAGES: readonly Message[] = [
  { type: "FIXED_TTS", text: "Hello", voiceId: "en-US-1" },
  { type: "FIXED_AUDIO", format: "wav", durationMs: 1_000, truncated: false },
  { type: "DYNAMIC_STREAM" },
  { type: "DYNAMIC_AGENT", instructions: ["be brief"] },
];

/** Lists, filters and pages. */
export function callListContract(clause: Clause): void {
  clause("only a user's own calls are listed, newest first, including those of deleted instances", async (scene) => {
    const instance = await scene.storedInstance();
    const first = await scene.endedCall(instance);
    await scene.endedCall(instance, { userId: scene.id("usr") });
    const second = await scene.storedCall(instance);
    await scene.storage.instances.update(instance.id, 1, { status: "DELETED" }, []);
    scene.equal(await scene.storage.calls.list(scene.userId, {}, {}), [second, first]);
  });

  clause("equal creation times are listed by descending id", async (scene) => {
    const instance = await scene.storedInstance();
    const createdAt = scene.now();
    const first = await scene.storedCall(instance, { createdAt });
    const second = await scene.storedCall(instance, { createdAt });
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, {})), [second.id, first.id]);
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, { after: second.id })), [first.id]);
  });

  clause("every combination of filters returns the matching calls, page by page", async (scene) => {
    const storedCalls = await callsOfEveryKind(scene);
    const instanceId = storedCalls[0]?.instanceId;
    const createdAfter = storedCalls[4]?.createdAt;
    const createdBefore = storedCalls[storedCalls.length - 4]?.createdAt;
    for (const status of [undefined, ...CALL_STATUSES])
      for (const type of [undefined, ...CALL_TYPES])
        for (const range of [{}, { instanceId }, { createdAfter, createdBefore }]) {
          const filter: CallFilter = { status, type, ...range };
          const expected = storedCalls.filter((call) => matchesFilter(call, filter)).toReversed();
          scene.equal(await scene.storage.calls.list(scene.userId, filter, {}), expected);
          scene.equal(await listInPages(scene, filter), idsOf(expected));
        }
  });

  clause("reference and number narrow other filters, by page", async (scene) => {
    const storedCalls = await callsOfEveryKind(scene);
    const { instanceId, createdAt: createdAfter } = storedCalls[2] as Call;
    const [reference, targetPhone] = ["order 1", "+15550101"];
    for (const namedFilter of [{ reference }, { targetPhone }, { reference, targetPhone }])
      for (const status of [undefined, "FAILED", ["QUEUED", "RINGING", "QUEUED"], []] as const)
        for (const otherFilter of [{}, { instanceId }, { createdAfter }, { type: "FIXED_TTS" }] as const) {
          const filter: CallFilter = { ...namedFilter, status, ...otherFilter };
          const expected = storedCalls.filter((call) => matchesFilter(call, filter)).toReversed();
          scene.equal(await scene.storage.calls.list(scene.userId, filter, {}), expected);
          scene.equal(await listInPages(scene, filter), idsOf(expected));
        }
    scene.equal(await scene.storage.calls.list(scene.id("usr"), { reference }, {}), []);
  });

  clause("a filter with several statuses lists the calls of each", async (scene) => {
    const storedCalls = await callsOfEveryKind(scene);
    const filter: CallFilter = { status: ["COMPLETED", "QUEUED"] };
    const expected = storedCalls.filter((call) => matchesFilter(call, filter)).toReversed();
    scene.equal(await scene.storage.calls.list(scene.userId, filter, {}), expected);
    scene.equal(await scene.storage.calls.list(scene.userId, { status: [] }, {}), []);
  });

  clause("reference and metadata of a call are returned as stored", async (scene) => {
    const instance = await scene.storedInstance();
    const metadata = { "": "\0", nested: { list: [1, null, "ü"] } };
    const call = await scene.storedCall(instance, { reference: "Auftrag 7 – ü", metadata });
    scene.equal([call.reference, call.metadata], ["Auftrag 7 – ü", metadata]);
    scene.equal(await scene.storage.calls.get(call.id), call);
    const failedCall = await scene.updateCall(call, { status: "FAILED", endedAt: scene.now() });
    scene.equal([failedCall.reference, failedCall.metadata], [call.reference, metadata]);
  });

  clause("a page after a call that the filter excludes still applies the filter", async (scene) => {
    const instance = await scene.storedInstance();
    const oldestCall = await scene.storedCall(instance);
    const middleCall = await scene.storedCall(instance);
    const newestCall = await scene.storedCall(instance);
    const { calls } = scene.storage;
    const beforeFilter = { createdBefore: middleCall.createdAt };
    const afterFilter = { createdAfter: middleCall.createdAt };
    scene.equal(idsOf(await calls.list(scene.userId, beforeFilter, { after: newestCall.id })), [oldestCall.id]);
    scene.equal(idsOf(await calls.list(scene.userId, afterFilter, { after: newestCall.id })), []);
    scene.equal(idsOf(await calls.list(scene.userId, afterFilter, { after: scene.id("call") })), [newestCall.id]);
  });

  clause("another user's calls are never listed", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const other = scene.id("usr");
    scene.equal(await scene.storage.calls.list(other, { instanceId: call.instanceId }, {}), []);
    scene.equal(await scene.storage.calls.list(other, {}, { after: scene.id("call") }), []);
  });

  clause("pages have no gaps or repeats while calls are created and end", async (scene) => {
    const instance = await scene.storedInstance();
    const storedIds: string[] = [];
    for (let i = 0; i < 10; i++) storedIds.unshift((await scene.endedCall(instance)).id);
    const listedIds: string[] = [];
    for (;;) {
      const page = await scene.storage.calls.list(scene.userId, {}, { limit: 3, after: listedIds.at(-1) });
      listedIds.push(...idsOf(page));
      await scene.endedCall(instance);
      if (page.length < 3) break;
    }
    scene.equal(listedIds, storedIds);
  });

  clause("paging continues after a deleted call", async (scene) => {
    const instance = await scene.storedInstance();
    const older = await scene.storedCall(instance);
    const unstoredCall = scene.call(instance);
    const newer = await scene.storedCall(instance);
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, { after: unstoredCall.id })), [older.id]);
    scene.equal(idsOf(await scene.storage.calls.list(scene.userId, {}, { after: newer.id })), [older.id]);
    scene.equal(await scene.storage.calls.list(scene.userId, {}, { after: "call_0" }), []);
  });
}

/** Stores calls of every type in every status, and returns them in the order of their creation. */
async function callsOfEveryKind(scene: StorageScene): Promise<Call[]> {
  const storedCalls: Call[] = [];
  for (const message of MESSAGES) {
    for (const status of CALL_STATUSES) {
      const instance =
        status === "FAILED" && storedCalls[0] ? { id: storedCalls[0].instanceId } : await scene.storedInstance();
      const reference = storedCalls.length % 3 === 0 ? "order 1" : storedCalls.length % 3 === 1 ? "order 2" : undefined;
      const targetPhone = storedCalls.length % 2 === 0 ? "+15550101" : "+15550102";
      const call = await scene.storedCall(instance, { message, targetPhone, ...(reference && { reference }) });
      storedCalls.push(status === "QUEUED" ? call : await scene.updateCall(call, { status }));
    }
  }
  return storedCalls;
}

function matchesFilter(call: Call, filter: CallFilter): boolean {
  return (
    (filter.instanceId === undefined || call.instanceId === filter.instanceId) &&
    (filter.status === undefined || [filter.status].flat().includes(call.status)) &&
    (filter.reference === undefined || call.reference === filter.reference) &&
    (filter.targetPhone === undefined || call.targetPhone === filter.targetPhone) &&
    (filter.type === undefined || call.message.type === filter.type) &&
    (filter.createdAfter === undefined || call.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || call.createdAt < filter.createdBefore)
  );
}

async function listInPages(scene: StorageScene, filter: CallFilter): Promise<string[]> {
  const listedIds: string[] = [];
  for (;;) {
    const page = await scene.storage.calls.list(scene.userId, filter, { limit: 4, after: listedIds.at(-1) });
    listedIds.push(...idsOf(page));
    if (page.length < 4) return listedIds;
  }
}

const NO_CALLS = { completed: 0, failed: 0, failures: {} };

/** Counts of calls by their outcomes. */
export function callTallyContract(clause: Clause): void {
  clause("counts a user's final calls of every type by their reasons", async (scene) => {
    const instance = await scene.storedInstance();
    const from = scene.now();
    await storeEndedCall(scene, instance, "COMPLETED", "message_played");
    await storeEndedCall(scene, instance, "COMPLETED", "callee_hung_up", { message: { type: "DYNAMIC_STREAM" } });
    await storeEndedCall(scene, instance, "FAILED", "busy");
    await storeEndedCall(scene, instance, "FAILED", "busy", {
      message: { type: "DYNAMIC_AGENT", instructions: ["be brief"] },
    });
    await storeEndedCall(scene, instance, "FAILED", "no_answer");
    await storeEndedCall(scene, instance, "FAILED", "busy", { userId: scene.id("usr") });
    await scene.endedCall(instance); // without an outcome
    const { calls } = scene.storage;
    scene.equal(await calls.tally(scene.userId, from, scene.now()), {
      completed: 2,
      failed: 4,
      failures: { busy: 2, no_answer: 1 },
    });
    scene.equal(await calls.tally(scene.id("usr"), from, scene.now()), NO_CALLS);
  });

  clause("counts calls from the start of the period up to but not including its end", async (scene) => {
    const instance = await scene.storedInstance();
    const { createdAt } = await storeEndedCall(scene, instance, "FAILED", "busy");
    const { calls } = scene.storage;
    const expected = { completed: 0, failed: 1, failures: { busy: 1 } };
    scene.equal(await calls.tally(scene.userId, createdAt, createdAt + 1), expected);
    scene.equal(await calls.tally(scene.userId, createdAt + 1, createdAt + 2), NO_CALLS);
    scene.equal(await calls.tally(scene.userId, createdAt - 1, createdAt), NO_CALLS);
  });

  clause("does not count active or removed calls", async (scene) => {
    const instance = await scene.storedInstance();
    const from = scene.now();
    const call = await storeEndedCall(scene, instance, "FAILED", "busy");
    await scene.storedCall(instance);
    await scene.updateCall(await scene.storedCall(instance), { status: "RINGING" });
    await scene.storage.calls.remove([call.id]);
    scene.equal(await scene.storage.calls.tally(scene.userId, from, scene.now()), NO_CALLS);
  });
}

/** A call that was created and has ended for this reason. */
async function storeEndedCall(
  scene: StorageScene,
  instance: Pick<Call, "id">,
  status: "COMPLETED" | "FAILED",
  reason: Outcome["reason"],
  patch: Partial<Call> = {},
): Promise<Call> {
  const outcome: Outcome = {
    reason,
    detail: `{"reason":"declined"}`,
    answeredBy: null,
    heardMs: null,
    heardRatio: null,
    durationMs: 0,
  };
  const call = await scene.storedCall(instance, patch);
  return scene.updateCall(call, { status, outcome, endedAt: scene.now() });
}
