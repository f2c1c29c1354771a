import { setTimeout as pause } from "node:timers/promises";
import { BatchClient } from "./batch-client.ts";
import { CallingClient } from "./calling-client.ts";
import { Chance } from "./chance.ts";
import { checkEndedBatch, checkLog, checkRest, checkStart } from "./checker.ts";
import { EventReader } from "./event-reader.ts";
import { executePlan } from "./execute-plan.ts";
import type { FaultyDatabase } from "./faulty-database.ts";
import { Journal, type Network } from "./journal.ts";
import { Moments } from "./moments.ts";
import { Phones } from "./phones.ts";
import { planRound, planText } from "./plan.ts";
import { readCall } from "./requests.ts";
import { RoundServer } from "./round-server.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** Number of rounds on the same records. */
export const ROUNDS_PER_SEQUENCE = 10;
const CLIENT_NETWORKS: readonly Network[] = ["sip/rounds", "sip/rounds", "sip/rounds", "sip", "sip", "simulator"];
const FINISH_MS = 15_000;

/** Runs rounds on the same records: start, check, work, fault. @returns all observations; never rejects */
export async function runSequence(seed: number, database: FaultyDatabase): Promise<Journal> {
  const journal = new Journal();
  const moments = new Moments();
  const phones = await Phones.start(journal, moments);
  const environment = settings(new Chance(seed), phones.port);
  const server = new RoundServer(database, environment, journal);
  const lines = Number(environment.RINGPORT_LINES ?? 1);
  const context: SequenceContext = { seed, database, server, journal, moments, phones, lines };
  try {
    await runRounds(context);
  } catch (error) {
    journal.reportViolation(
      "the rounds continue",
      `round ${journal.epoch}`,
      error instanceof Error ? String(error.stack) : String(error),
    );
  } finally {
    if (server.isAlive) await server.kill();
    await phones.close();
    await database.dispose();
  }
  return journal;
}

async function runRounds(context: SequenceContext): Promise<void> {
  const { seed, database, server, journal, phones } = context;
  const clients = CLIENT_NETWORKS.map((network, n) => new CallingClient(context, n, network));
  const batch = new BatchClient(context);
  const reader = new EventReader(context);
  for (let round = 1; round <= ROUNDS_PER_SEQUENCE; round++) {
    journal.epoch = round;
    const plan = planRound(new Chance(seed, round, 99), database);
    journal.note(`begins: ${planText(plan)}`);
    await server.start();
    if (round === 1) await database.migrationDone();
    await checkStart(context);
    if (plan.fault.do === "take over") server.startStandby();
    let hasEnded = false;
    const eventReading = reader.readEvents(() => !server.isAlive);
    const canDelete = /link|deletion/.test(plan.moment.occasion);
    const work = [...clients.map((client) => client.work(() => hasEnded, canDelete)), batch.work(() => hasEnded)];
    await executePlan(context, plan, async () => {
      hasEnded = true;
      await Promise.all(work);
      await settle(context, [...clients, batch]);
    });
    hasEnded = true;
    await Promise.all([...work, eventReading]);
    phones.serverDied();
    await database.repair();
    await database.whenReleased();
  }
  journal.epoch = ROUNDS_PER_SEQUENCE + 1;
  await server.start();
  await checkStart(context);
  await settle(context, [...clients, batch]);
  await lastCalls(context, clients);
  await batch.waitForEnd();
  await checkEndedBatch(context);
  await checkRest(context);
  await checkLog(context, reader);
}

/** Waits without faults until pending work is finished and everything has settled. */
async function settle(context: SequenceContext, clients: readonly Pick<CallingClient, "finish">[]): Promise<void> {
  const deadline = performance.now() + FINISH_MS;
  for (;;) {
    const completions = await Promise.all(clients.map((client) => client.finish()));
    if (completions.every(Boolean) || !context.server.isAlive) break;
    if (performance.now() > deadline) {
      context.journal.reportViolation(
        "every request can be finished",
        `round ${context.journal.epoch}`,
        `clients: ${completions.join(", ")}`,
      );
      break;
    }
    await pause(20);
  }
  await checkRest(context);
}

/** Expects that a call succeeds from every instance. */
async function lastCalls(context: SequenceContext, clients: readonly CallingClient[]): Promise<void> {
  await Promise.all(
    clients.map(async (client, n) => {
      const deadline = performance.now() + FINISH_MS;
      const reportViolation = (detail: string) =>
        context.journal.reportViolation("no queue is stuck", `client ${n}`, detail);
      let call = await client.lastCall();
      while (call?.id === undefined) {
        if (performance.now() > deadline)
          return reportViolation(`no call can be placed: ${JSON.stringify(call?.posts)}`);
        await pause(50);
        call = await client.lastCall();
      }
      for (;;) {
        const view = await readCall(context, call);
        if (view?.status === "COMPLETED") return;
        if (view?.status === "FAILED") return reportViolation(`an undisturbed call failed: ${JSON.stringify(view)}`);
        if (performance.now() > deadline) return reportViolation(`a call waits forever: ${JSON.stringify(view)}`);
        await pause(20);
      }
    }),
  );
}

/** Settings with short timeouts. */
function settings(chance: Chance, sipPort: number): Record<string, string> {
  return {
    RINGPORT_TELEPHONY: "sip,simulator",
    RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "rounds", server: `sip:127.0.0.1:${sipPort}` }]),
    RINGPORT_SIP_ACCOUNTS: "on",
    RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE: "1",
    RINGPORT_SIMULATOR_TIME_SCALE: "0.05",
    ...chance.pick([
      {},
      { RINGPORT_QUEUE: "fifo", RINGPORT_QUEUE_DEPTH: "4" },
      { RINGPORT_QUEUE: "fifo", RINGPORT_QUEUE_DEPTH: "4", RINGPORT_LINES: "2" },
    ]),
    RINGPORT_TAIL_MS: "0",
    RINGPORT_RING_TIMEOUT_MS: "1000",
    RINGPORT_MAX_DURATION_MS: "1000",
    RINGPORT_RELEASE_TIMEOUT_MS: "1000",
    RINGPORT_DRAIN_MS: "200",
    RINGPORT_PROBE_MS: "200",
    RINGPORT_PROBE_IN_CALL_MS: "200",
    RINGPORT_LINK_CODE_MS: "2000",
    // Longer than every outage that it must outlive, even on a busy machine.
    RINGPORT_LEASE_MS: "2000",
    RINGPORT_LEASE_RENEW_MS: "300",
  };
}
