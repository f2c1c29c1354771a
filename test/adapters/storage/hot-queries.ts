import type { Storage } from "../../../src/ports/storage.ts";
import { storedCall, storedInstance } from "./records.ts";

/** Runs all queries that a busy server repeats. */
export async function askHotQueries(storage: Storage): Promise<void> {
  const { accounts, logins, instances, lineRecords, consents, calls, events, receipts } = storage;
  const call = storedCall("call_1", "inst_1");
  await accounts.tokenByHash("hash");
  await logins.sessionByHash("hash");
  await logins.prolongSession("ses_1", 1, 2);
  await logins.forgetExpired(1);
  await logins.forgetUser("usr_9", 10);
  await instances.insert(storedInstance("inst_1"), []);
  await instances.list("usr_1", { limit: 10, after: "inst_1" });
  await instances.linked({ limit: 10, after: "inst_0" });
  await instances.unlinked("simulator", { limit: 10, after: "inst_0" });
  await instances.hasSecrets("inst_1");
  await instances.halfLinked({ limit: 10, after: "inst_0" });
  await instances.halfDeleted({ limit: 10, after: "inst_0" });
  await lineRecords.set("inst_1", new Map([["key", Uint8Array.of(1)]]), 10);
  await lineRecords.get("inst_1", ["key", "other"]);
  await lineRecords.keys("inst_1", "k");
  await consents.get("usr_1", "+12025550100");
  await consents.ofNumbers("usr_1", ["+12025550100", "+12025550101"]);
  await consents.list("usr_1", {}, { limit: 10, after: "+12025550100" });
  await consents.list("usr_1", { status: "do_not_call" }, { limit: 10, after: "+12025550100" });
  await accounts.users(1);
  const receipt = { userId: "usr_1", scope: "", key: "key", fingerprint: "body", begunAt: 1, expiredBefore: 0 };
  await receipts.find(receipt, 0);
  await calls.insert(call, undefined, { kind: "single" }, [], receipt);
  await calls.insert({ ...call, id: "call_2" }, undefined, { kind: "single" }, [], receipt);
  const quota = { maxCalls: 1, since: 0 };
  await calls.insert({ ...call, id: "call_3", tokenId: "tok_1" }, undefined, { kind: "single" }, [], undefined, quota);
  const free = { ...call, id: "call_4", instanceId: "inst_2", tokenId: "tok_1" };
  await instances.insert(storedInstance("inst_2"), []);
  await calls.insert(free, undefined, { kind: "single" }, [], undefined, quota);
  await calls.oldestWaiting();
  await calls.waitingSince(2, 10);
  await calls.waitingSince(2, 10, { id: "call_0", createdAt: 1 });
  await calls.active("inst_1");
  await calls.claimNext("inst_1", "node_1", 1);
  await calls.orphaned("node_1", 10);
  await calls.dialHistory("inst_1", 0, 10);
  await calls.dialHistory("inst_1", 0, 10, 9);
  await calls.dialHistory("inst_1", 0, 10, 9, "reached");
  await calls.counts();
  await calls.tally("usr_1", 0, 9);
  await calls.get("call_1");
  await calls.update("call_1", 3, { status: "FAILED", endedAt: 2 }, []);
  for (const status of [undefined, "FAILED"] as const)
    for (const type of [undefined, "DYNAMIC_STREAM"] as const)
      for (const instanceId of [undefined, "inst_1"]) {
        const filter = { status, type, instanceId };
        await calls.list("usr_1", filter, { limit: 10 });
        await calls.list("usr_1", filter, { limit: 10, after: "call_1" });
        await calls.list("usr_1", { ...filter, createdAfter: 0, createdBefore: 9 }, { limit: 10 });
      }
  for (const named of [{ reference: "order 1" }, { targetPhone: "+155510100" }])
    for (const more of [{}, { status: ["FAILED", "QUEUED"], type: "FIXED_TTS", instanceId: "inst_1" }] as const) {
      await calls.list("usr_1", { ...named, ...more }, { limit: 10 });
      await calls.list("usr_1", { ...named, ...more }, { limit: 10, after: "call_1" });
    }
  await events.ofCall("call_1", { limit: 10, after: 1 });
  await events.ofUser("usr_1", {}, { limit: 10, after: 1 });
  await events.ofUser("usr_1", { instanceId: "inst_1" }, { limit: 10, after: 1 });
  await events.positionOf("usr_1", "evt_0");
  await events.lookUp("usr_1");
  await events.lookUp("usr_1", 1);
  await events.positionBefore("usr_1", "evt_0");
  await calls.recorded(9, 10);
  await calls.to("+15550100", { limit: 10, after: "call_0" });
  await calls.remove(await calls.ended(9, 10), 0);
  await events.newestId();
  await instances.purge(9, 10);
  await instances.forgetPhone("+15550100");
  await receipts.forget(9);
}
