import type { TargetFilter } from "../../../src/domain/batches/batch.ts";
import type { CallFilter } from "../../../src/domain/calls/call.ts";
import { mentionedNumber } from "../../../src/domain/numbers/mentioned-number.ts";
import type {
  AccountStore,
  BatchStore,
  ConsentStore,
  EventStore,
  LoginStore,
  Storage,
  WebhookStore,
} from "../../../src/ports/storage.ts";
import { SEALED_KINDS } from "../../../src/ports/storage.ts";
import {
  storedAccount,
  storedBatch,
  storedCall,
  storedCode,
  storedDelivery,
  storedEvent,
  storedInstance,
  storedSession,
  storedTarget,
  storedToken,
  storedWebhook,
} from "./records.ts";

/** A value for each filter of each list; the compiler reports a missing one. */
const CALLS: Required<CallFilter> = {
  instanceId: "inst_1",
  status: "FAILED",
  type: "DYNAMIC_STREAM",
  reference: "order 1",
  targetPhone: "+155510100",
  batchId: "batch_1",
  createdAfter: 0,
  createdBefore: 9,
};
const EVENTS: Required<Parameters<EventStore["ofUser"]>[1]> = { instanceId: "inst_1" };
const CONSENTS: Required<Parameters<ConsentStore["list"]>[1]> = { status: "do_not_call" };
const DELIVERIES: Required<Parameters<WebhookStore["deliveries"]>[1]> = { status: "failed" };
const AUDIT: Required<Parameters<LoginStore["audit"]>[0]> = { accountId: "acc_1" };
const TARGETS: Required<TargetFilter> = { status: ["FAILED", "WAITING"] };
const BATCHES: Required<Parameters<BatchStore["list"]>[1]> = { status: "RUNNING" };
const TOKENS: Parameters<AccountStore["tokens"]> = ["usr_1"];

/** A later page of a list. */
const NEXT_PAGE = { limit: 10, after: "call_1" };

/** Calls every method of a storage, with every combination of filters. Records are related if a method needs that. */
export async function runEveryQuery(storage: Storage): Promise<void> {
  await queryAccounts(storage);
  await queryInstances(storage);
  await queryCalls(storage);
  await queryLists(storage);
  await queryLog(storage);
  await queryWebhooks(storage);
  await queryBatches(storage);
  await queryAudio(storage);
  await deleteAll(storage);
}

async function queryAccounts({ accounts, logins, consents }: Storage): Promise<void> {
  await accounts.ensureUser({ id: "usr_1", name: "Ada", createdAt: 1 });
  await accounts.userByName("Ada");
  await accounts.users(1);
  await accounts.insertToken(storedToken("tok_1"));
  await accounts.insertToken(storedToken("tok_2"), { id: "acc_9", most: 10 });
  await accounts.tokenByHash("hash");
  await accounts.tokensByHash(["hash", "other"]);
  await accounts.tokens(...TOKENS);
  await accounts.revokeToken("tok_1", 2);
  await accounts.markUsed("tok_1", 2);
  const session = storedSession("ses_1");
  const code = { hash: "code", purpose: "invitation", now: 1 } as const;
  const user = { id: "usr_2", name: "Bob", createdAt: 1 };
  await logins.hasAdmin();
  for (const purpose of ["first", "invitation", "reset"] as const) await logins.insertCode(storedCode(purpose), 10);
  await logins.register({ account: storedAccount("acc_1"), session, user, code: undefined, takesOver: "Ada" });
  await logins.register({ account: storedAccount("acc_2"), session, user, code });
  await logins.account("acc_1");
  await logins.accountByEmail("a@example.com");
  await logins.accounts(10);
  await logins.rehash("acc_1", "hash", "other");
  await logins.changePassword(storedSession("ses_2"), "hash", code);
  await logins.changePassword(storedSession("ses_3"), "hash", { passwordHash: "other" });
  await logins.insertSession(storedSession("ses_4"), "hash", 10);
  await accounts.insertToken(storedToken("tok_3"), { id: "acc_1", most: 10 });
  await logins.sessionByHash("hash");
  await logins.sessions("acc_1");
  await logins.prolongSession("ses_1", 1, 2);
  await logins.deleteSession("acc_1", "ses_1");
  await logins.codeByHash("code");
  await logins.invitations();
  await logins.deleteInvitation("code_1");
  await logins.note({ id: "aud_1", at: 1, accountId: "acc_1", email: null, action: "signed in", subject: null }, 1, 10);
  const consent = { userId: "usr_1", phone: "+12025550100", source: null, createdAt: 1, updatedAt: 1 };
  await consents.put({ ...consent, status: "granted" }, 10);
  await consents.get("usr_1", "+12025550100");
  await consents.ofNumbers("usr_1", ["+12025550100", "+12025550101"]);
  await consents.delete("usr_1", "+12025550100");
}

async function queryAudio({ audio }: Storage): Promise<void> {
  const file = { format: "wav", durationMs: 1, truncated: false } as const;
  const record = { userId: "usr_1", name: null, size: 1, file, createdAt: 1, expiresAt: 2, deletedAt: null };
  const limits = { maxFiles: 10, userBytes: 1 << 20 };
  for (const sha256 of ["a", "b", "a"]) {
    const id = `audio_${sha256}`;
    await audio.insert({ ...record, id, sha256 }, Uint8Array.of(1), 1, limits);
  }
  await audio.get("audio_a");
  for (const page of [{}, NEXT_PAGE]) await audio.list("usr_1", 1, page);
  await audio.delete("audio_a", 2);
  await audio.purge(3);
}

async function queryInstances({ instances, lineRecords, sealed }: Storage): Promise<void> {
  await instances.insert(storedInstance("inst_1"), [storedEvent("evt_1", null)], undefined, 10);
  await instances.get("inst_1");
  await instances.update("inst_1", 1, { phone: "+15550100" }, [], Uint8Array.of(1));
  await instances.linked(NEXT_PAGE);
  await instances.withWaitingCalls(10);
  await instances.unlinked("simulator", NEXT_PAGE);
  await instances.hasSecrets("inst_1");
  await instances.halfLinked(NEXT_PAGE);
  await instances.halfDeleted(NEXT_PAGE);
  await instances.saveCredentials("inst_1", Uint8Array.of(1));
  await instances.loadCredentials("inst_1");
  await instances.withPhone("+15550100");
  await lineRecords.set("inst_1", new Map([["key", Uint8Array.of(1)]]), 10);
  await lineRecords.set("inst_1", new Map([["key", undefined]]), 10);
  await lineRecords.get("inst_1", ["key", "other"]);
  await lineRecords.keys("inst_1", "k");
  await lineRecords.forgetNumber(mentionedNumber("+15550100"));
  await lineRecords.clear("inst_1");
  for (const kind of SEALED_KINDS) {
    await sealed.list(kind, 10);
    await sealed.list(kind, 10, { id: "inst_1", key: "key" });
    await sealed.replace(kind, { id: "inst_1", key: "key", sealed: Uint8Array.of(1) }, Uint8Array.of(2));
  }
  await instances.eraseCredentials("inst_1");
}

async function queryCalls({ instances, calls, receipts }: Storage): Promise<void> {
  const call = storedCall("call_1", "inst_1");
  const receipt = { userId: "usr_1", scope: "", key: "key", fingerprint: "body", begunAt: 1, expiredBefore: 0 };
  await receipts.find(receipt, 0);
  const events = [storedEvent("evt_2", "call_1")];
  await calls.insert(call, Uint8Array.of(1), { kind: "single" }, events, receipt);
  await calls.insert({ ...call, id: "call_2" }, undefined, { kind: "single" }, [], receipt);
  const quota = { maxCalls: 1, since: 0 };
  await calls.insert({ ...call, id: "call_3", tokenId: "tok_1" }, undefined, { kind: "single" }, [], undefined, quota);
  const otherInstanceCall = { ...call, id: "call_4", instanceId: "inst_2", tokenId: "tok_1" };
  await instances.insert(storedInstance("inst_2"), []);
  await calls.insert(otherInstanceCall, undefined, { kind: "fifo", depth: 3 }, [], undefined, quota);
  await calls.countTransfer("tok_1", 2, quota);
  await calls.oldestWaiting();
  await calls.waitingSince(2, 10);
  await calls.waitingSince(2, 10, { id: "call_0", createdAt: 1 });
  await calls.waitingSince(2, 10, { id: "call_0", createdAt: 1 }, "unlimited");
  await calls.expiring(2, 10);
  await calls.expiring(2, 10, { id: "call_0", expiresAt: 1 });
  await calls.active("inst_1");
  await calls.nextWaiting("inst_1");
  await calls.nextWaiting("inst_1", ["call_0"]);
  await calls.nextNotBefore("inst_1", 1);
  await calls.claimed("inst_1", "node_1");
  await calls.claimNext("inst_1", "node_1", 1, 0, "call_0");
  await calls.claimNext("inst_1", "node_1", 1, 0);
  await calls.orphaned("node_1", 10);
  await calls.dialHistory("inst_1", 0, 10);
  await calls.dialHistory("inst_1", 0, 10, 9);
  await calls.dialHistory("inst_1", 0, 10, 9, "reached");
  await calls.counts();
  await calls.tally("usr_1", 0, 9);
  await calls.get("call_1");
  await calls.audio("call_1");
  await calls.update("call_1", 2, { status: "FAILED", endedAt: 2 }, []);
  await calls.recorded(9, 10);
  await calls.naming(mentionedNumber("+15550100"), { limit: 10, after: "call_0" });
}

async function queryLists({ instances, consents, calls, logins }: Storage): Promise<void> {
  await instances.list("usr_1", { limit: 10 });
  await instances.list("usr_1", { limit: 10, after: "inst_1" });
  for (const page of [{ limit: 10 }, NEXT_PAGE]) {
    for (const filter of subsets(CALLS)) await calls.list("usr_1", filter, page);
    await calls.list("usr_1", { status: ["FAILED", "COMPLETED"] }, page);
    for (const filter of subsets(CONSENTS)) await consents.list("usr_1", filter, page);
    for (const filter of subsets(AUDIT)) await logins.audit(filter, page);
  }
}

async function queryLog({ events, transcripts, retention }: Storage): Promise<void> {
  await events.append([storedEvent("evt_3", "call_1"), storedEvent("evt_4", null)]);
  await events.ofCall("call_1", { limit: 10, after: 1 });
  for (const filter of subsets(EVENTS)) await events.ofUser("usr_1", filter, { limit: 10, after: 1 });
  await events.positionOf("usr_1", "evt_0");
  await events.lookUp("usr_1");
  await events.lookUp("usr_1", 1);
  await events.positionBefore("usr_1", "evt_0");
  await events.newestId();
  const line = { callId: "call_1", position: 1, speaker: "callee", text: "Hello", timestamp: 1 } as const;
  await transcripts.append([{ ...line, startMs: 1, endMs: 2, confidence: null }]);
  await transcripts.ofCalls(["call_1", "call_2"]);
  await retention.trustedTime();
  await retention.saveTrustedTime({ at: 1, claim: null });
  await retention.storedBytes("usr_1");
  await retention.scrub({ thorough: false });
}

async function queryWebhooks({ webhooks }: Storage): Promise<void> {
  await webhooks.insert(storedWebhook("hook_1"), 10);
  await webhooks.get("hook_1");
  await webhooks.enabled();
  await webhooks.update("hook_1", 1, { disabledReason: "requested" });
  await webhooks.update("hook_1", 2, { disabledReason: null });
  await webhooks.behind();
  await webhooks.plan("hook_1", 4, 5, [storedDelivery("dlv_1", "hook_1")]);
  await webhooks.insertDelivery(storedDelivery("dlv_2", "hook_1"), 10);
  await webhooks.pending("hook_1", 10);
  const attempt = { status: "failed", attempts: 1, nextAttemptAt: null, lastAttemptAt: 2 } as const;
  await webhooks.attempted("dlv_1", { ...attempt, lastStatus: 500, lastError: null });
  await webhooks.deliveredSince("hook_1", 1);
  await webhooks.getDelivery("dlv_1");
  for (const page of [{ limit: 10 }, NEXT_PAGE]) {
    await webhooks.list("usr_1", page);
    for (const filter of subsets(DELIVERIES)) await webhooks.deliveries("hook_1", filter, page);
  }
}

async function queryBatches({ batches }: Storage): Promise<void> {
  await batches.insert(storedBatch("batch_1"), undefined, 10);
  const targets = [1, 2, 3].map((row) => storedTarget(row));
  await batches.addTargets("batch_1", [...targets, storedTarget(1)], 10);
  await batches.removeTarget("batch_1", 3, 7);
  await batches.get("batch_1");
  await batches.audio("batch_1");
  await batches.update("batch_1", 1, { status: "RUNNING" }, []);
  await batches.open();
  await batches.target("batch_1", 1);
  await batches.updateTarget("batch_1", 1, 1, { status: "FAILED", reason: "busy", nextAttemptAt: null }, []);
  await batches.due("batch_1", 9, 10);
  await batches.due("batch_1", -1, 10);
  await batches.postpone("batch_1", "", 5, 7);
  await batches.calling("batch_1");
  await batches.counts("batch_1");
  for (const page of [{ limit: 10 }, { limit: 10, after: "1" }])
    for (const filter of subsets(TARGETS)) await batches.targets("batch_1", filter, page);
  for (const page of [{ limit: 10 }, NEXT_PAGE])
    for (const filter of subsets(BATCHES)) await batches.list("usr_1", filter, page);
  await batches.endWaiting("batch_1", "CANCELLED", "batch_cancelled", 10, () => storedEvent("evt_batch", null), 7);
  await batches.forgetNumber("+12025551001");
  await batches.update("batch_1", 2, { status: "CANCELLED", endedAt: 5 }, []);
  await batches.ended(9, 10);
  await batches.delete("batch_1");
}

/** Runs all deletions. */
async function deleteAll({ logins, instances, calls, receipts, webhooks }: Storage): Promise<void> {
  await webhooks.forgetDeliveries(9);
  await webhooks.delete("hook_1");
  await calls.remove(await calls.ended(9, 10), 0);
  await instances.purge(9, 10);
  await instances.forgetPhone("+15550100");
  await calls.forgetCounted(9);
  await receipts.forget(9);
  await logins.forgetExpired(1);
  await logins.forgetUser("usr_9", 10);
  await logins.beginRemoval("acc_2", 1);
  await logins.deleteAccount("acc_2");
}

/** Every combination of a filter's fields. */
function subsets<Filter extends object>(filter: Filter): Partial<Filter>[] {
  let combinations: Partial<Filter>[] = [{}];
  for (const [name, value] of Object.entries(filter))
    combinations = combinations.flatMap((combination) => [combination, { ...combination, [name]: value }]);
  return combinations;
}
