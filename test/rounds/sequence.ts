import { setTimeout as pause } from "node:timers/promises";
import { Chance } from "./chance.ts";
import { checkLog, checkRest, checkStart } from "./checker.ts";
import { Desk } from "./desk.ts";
import { EventReader } from "./event-reader.ts";
import { Journal, type Network } from "./journal.ts";
import { Moments } from "./moments.ts";
import { Phones } from "./phones.ts";
import type { Place } from "./place.ts";
import { planRound, planText } from "./plan.ts";
import { readCall } from "./requests.ts";
import { RoundServer } from "./round-server.ts";
import type { Stage } from "./stage.ts";
import { strike } from "./strike.ts";

/** Rounds on the same records. */
export const ROUNDS_OF_A_SEQUENCE = 10;
const DESKS: readonly Network[] = ["sip/rounds", "sip/rounds", "sip/rounds", "sip", "sip", "simulator"];
const FINISH_MS = 15_000;

/** Runs rounds on the same records: start, check, work, fault. @returns all observations; never rejects */
export async function runSequence(seed: number, place: Place): Promise<Journal> {
  const journal = new Journal();
  const moments = new Moments();
  const phones = await Phones.start(journal, moments);
  const server = new RoundServer(place, settings(new Chance(seed), phones.port), journal);
  const stage: Stage = { seed, place, server, journal, moments, phones };
  try {
    await runRounds(stage);
  } catch (error) {
    journal.violated(
      "the rounds go on",
      `round ${journal.epoch}`,
      error instanceof Error ? String(error.stack) : String(error),
    );
  } finally {
    if (server.alive) await server.kill();
    await phones.close();
    await place.dispose();
  }
  return journal;
}

async function runRounds(stage: Stage): Promise<void> {
  const { seed, place, server, journal, phones } = stage;
  const desks = DESKS.map((network, n) => new Desk(stage, n, network));
  const reader = new EventReader(stage);
  for (let round = 1; round <= ROUNDS_OF_A_SEQUENCE; round++) {
    journal.epoch = round;
    const plan = planRound(new Chance(seed, round, 99), place);
    journal.note(`begins: ${planText(plan)}`);
    await server.start();
    if (round === 1) await place.migrated();
    await checkStart(stage);
    if (plan.fault.do === "take over") server.standBy();
    let hasEnded = false;
    const following = reader.follow(() => !server.alive);
    const deletes = /link|deletion/.test(plan.moment.occasion);
    const work = desks.map((desk) => desk.work(() => hasEnded, deletes));
    await strike(stage, plan, async () => {
      hasEnded = true;
      await Promise.all(work);
      await rest(stage, desks);
    });
    hasEnded = true;
    await Promise.all([...work, following]);
    phones.serverDied();
    await place.mend();
    await place.released();
  }
  journal.epoch = ROUNDS_OF_A_SEQUENCE + 1;
  await server.start();
  await checkStart(stage);
  await rest(stage, desks);
  await lastCalls(stage, desks);
  await checkRest(stage);
  await checkLog(stage, reader);
}

/** No faults: pending work is finished, and everything settles. */
async function rest(stage: Stage, desks: readonly Desk[]): Promise<void> {
  const deadline = performance.now() + FINISH_MS;
  for (;;) {
    const done = await Promise.all(desks.map((desk) => desk.finish()));
    if (done.every(Boolean) || !stage.server.alive) break;
    if (performance.now() > deadline) {
      stage.journal.violated(
        "every request can be finished",
        `round ${stage.journal.epoch}`,
        `desks: ${done.join(", ")}`,
      );
      break;
    }
    await pause(20);
  }
  await checkRest(stage);
}

/** A call succeeds from every instance. */
async function lastCalls(stage: Stage, desks: readonly Desk[]): Promise<void> {
  await Promise.all(
    desks.map(async (desk, n) => {
      const deadline = performance.now() + FINISH_MS;
      const broken = (detail: string) => stage.journal.violated("no queue is stuck", `desk ${n}`, detail);
      let call = await desk.lastCall();
      while (call?.id === undefined) {
        if (performance.now() > deadline) return broken(`no call can be placed: ${JSON.stringify(call?.posts)}`);
        await pause(50);
        call = await desk.lastCall();
      }
      for (;;) {
        const view = await readCall(stage, call);
        if (view?.status === "COMPLETED") return;
        if (view?.status === "FAILED") return broken(`a call that nothing disturbs fails: ${JSON.stringify(view)}`);
        if (performance.now() > deadline) return broken(`a call waits for ever: ${JSON.stringify(view)}`);
        await pause(20);
      }
    }),
  );
}

/** Every wait is shortened. */
function settings(chance: Chance, sipPort: number): Record<string, string> {
  return {
    RINGPORT_TELEPHONY: "sip,simulator",
    RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "rounds", server: `sip:127.0.0.1:${sipPort}` }]),
    RINGPORT_SIP_ACCOUNTS: "on",
    RINGPORT_SIP_ACCOUNTS_ALLOW_PRIVATE: "1",
    RINGPORT_SIMULATOR_TIME_SCALE: "0.05",
    ...chance.pick([{}, { RINGPORT_QUEUE: "fifo", RINGPORT_QUEUE_DEPTH: "4" }]),
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
