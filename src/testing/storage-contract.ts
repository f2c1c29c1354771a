import type { ContractRunner } from "./contract-runner.ts";
import { accountRemovalContract } from "./storage-contract/accounts/account-removal.ts";
import { accountsContract } from "./storage-contract/accounts/accounts.ts";
import { oneTimeCodesContract } from "./storage-contract/accounts/one-time-codes.ts";
import { registrationsContract } from "./storage-contract/accounts/registrations.ts";
import { sessionsContract } from "./storage-contract/accounts/sessions.ts";
import { batchesContract } from "./storage-contract/batches.ts";
import { byteBudgetContract } from "./storage-contract/byte-budget.ts";
import { callListContract, callTallyContract } from "./storage-contract/call-list.ts";
import { callQueueContract } from "./storage-contract/call-queue.ts";
import { callQuotaContract } from "./storage-contract/call-quota.ts";
import { callRemovalContract } from "./storage-contract/call-removal.ts";
import { callUpdateContract } from "./storage-contract/call-update.ts";
import { consentsContract } from "./storage-contract/consents.ts";
import { eventOrderContract } from "./storage-contract/event-order.ts";
import { eventsContract } from "./storage-contract/events.ts";
import { instancesContract } from "./storage-contract/instances.ts";
import { lineRecordsContract } from "./storage-contract/line-records.ts";
import { queueRuleContract } from "./storage-contract/queue-rule.ts";
import { receiptsContract } from "./storage-contract/receipts.ts";
import { retentionContract } from "./storage-contract/retention.ts";
import { type Clause, StorageScene, type StorageUnderTest } from "./storage-contract/scene.ts";
import { sealedContract } from "./storage-contract/sealed.ts";
import { storedAudioContract } from "./storage-contract/stored-audio.ts";
import { transcriptsContract } from "./storage-contract/transcripts.ts";
import { webhooksContract } from "./storage-contract/webhooks.ts";

/**
 * The contract of the storage port as tests.
 * @param name title of the group of tests
 * @param factory creates an empty storage; called once per test
 * @param skipReason reason why the storage loses its data when it is closed; tests of durability are skipped with it
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * storageContract("my storage", () => freshStorage(), { describe, test, expect });
 */
export function storageContract(
  name: string,
  factory: () => Promise<StorageUnderTest>,
  { describe, test, expect }: ContractRunner,
  skipReason?: string,
): void {
  const clause: Clause = (title, body) =>
    test(title, async () => {
      const subject = await factory();
      try {
        await body(new StorageScene(subject, expect));
      } finally {
        await subject.close();
      }
    });
  const persistenceClause: Clause = (title, body) =>
    skipReason === undefined ? clause(title, body) : test.skip(`${title} (skipped: ${skipReason})`, async () => {});

  describe(`${name} fulfils the storage contract`, () => {
    describe("accounts", () => accountsContract(clause));
    describe("registrations", () => registrationsContract(clause, persistenceClause));
    describe("sessions and passwords", () => sessionsContract(clause));
    describe("one-time codes", () => oneTimeCodesContract(clause));
    describe("deleted accounts", () => accountRemovalContract(clause));
    describe("instances", () => instancesContract(clause, persistenceClause));
    describe("records of lines", () => lineRecordsContract(clause, persistenceClause));
    describe("consents", () => consentsContract(clause, persistenceClause));
    describe("the queue rule", () => queueRuleContract(clause, persistenceClause));
    describe("the quota of a token", () => callQuotaContract(clause, persistenceClause));
    describe("waiting calls", () => callQueueContract(clause));
    describe("updates of a call", () => callUpdateContract(clause, persistenceClause));
    describe("lists of calls", () => callListContract(clause));
    describe("counts of calls", () => callTallyContract(clause));
    describe("ended calls", () => callRemovalContract(clause));
    describe("the log", () => eventsContract(clause));
    describe("readers of the log", () => eventOrderContract(clause));
    describe("transcripts", () => transcriptsContract(clause, persistenceClause));
    describe("idempotency keys", () => receiptsContract(clause));
    describe("budgets of stored bytes", () => byteBudgetContract(clause));
    describe("retention", () => retentionContract(clause, persistenceClause));
    describe("webhooks", () => webhooksContract(clause, persistenceClause));
    describe("batches", () => batchesContract(clause, persistenceClause));
    describe("stored audio files", () => storedAudioContract(clause, persistenceClause));
    describe("sealed values", () => sealedContract(clause));
  });
}
