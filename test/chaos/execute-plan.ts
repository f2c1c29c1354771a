import { setTimeout as pause } from "node:timers/promises";
import { ServerDied } from "./checker.ts";
import type { Fault, Plan } from "./plan.ts";
import { endCall } from "./requests.ts";
import type { SequenceContext } from "./sequence-context.ts";
import { takeOver } from "./take-over.ts";

/** Maximum number of calls that are ended while the storage fails. */
const MAX_ENDED = 3;
/** Maximum time of an undisturbed hang-up on a busy machine, ms. */
const HANG_UP_MS = 5_000;
const POLL_MS = 5;

/**
 * Carries out the plan on the server, at the planned moment; the server is dead afterwards.
 * @param settle waits until all work has settled
 */
export async function executePlan(
  context: SequenceContext,
  { moment, fault }: Plan,
  settle: () => Promise<void>,
): Promise<void> {
  let planExecuted: Promise<void> = Promise.resolve();
  await context.moments.at(moment, () => {
    planExecuted = act(context, fault, settle);
    planExecuted.catch(() => {}); // awaited below
  });
  await planExecuted.catch((error: unknown) => {
    if (!(error instanceof ServerDied)) throw error; // recorded where it was observed
  });
}

/** Executes a step of the plan. Immediate steps are done when this returns. */
async function act(context: SequenceContext, fault: Fault, settle: () => Promise<void>): Promise<void> {
  const { server, database } = context;
  switch (fault.do) {
    case "kill":
      return server.kill();
    case "stop":
      return server.stop();
    case "pause":
      server.pause();
      await pause(fault.ms);
      if (fault.next === "kill" && fault.laterMs === 0) return server.kill();
      server.resume();
      if (fault.next === "settle") await settle();
      else await pause(fault.laterMs);
      return server.kill();
    case "take over":
      return takeOver(context, fault, settle);
    case "settle":
      await settle();
      return server.stop();
    case "outage": {
      context.journal.note(`${fault.outage}: begins`);
      await database.fail(fault.outage);
      context.journal.note("the storage fails");
      if (fault.hangUp) await endLiveCalls(context, fault.outage);
      await pause(fault.ms);
      if (fault.next === "kill") return server.kill();
      if (fault.next === "stop") return server.stop();
      await database.repair();
      context.journal.note("the storage works again");
      await settle();
      return server.kill();
    }
  }
}

/**
 * Ends live calls. Their phones must become free, whatever the storage does. If the storage cannot even be read, no
 * request can be admitted, and the calls must end without requests.
 */
async function endLiveCalls(context: SequenceContext, outage: string): Promise<void> {
  const { journal, phones, database } = context;
  const liveCalls = journal.createdCalls.filter(({ number }) => phones.hasLeg(number)).slice(0, MAX_ENDED);
  const isReadable = database.isReadable(outage);
  if (isReadable) for (const call of liveCalls) void endCall(context, call);
  const rule = isReadable ? "DELETE hangs up, whatever the storage does" : "a call ends, whatever the storage does";
  const deadline = performance.now() + HANG_UP_MS;
  for (const { id, number } of liveCalls) {
    while (phones.hasLeg(number) && performance.now() < deadline) await pause(POLL_MS);
    if (phones.hasLeg(number))
      journal.reportViolation(rule, id!, `its phone is still connected after ${HANG_UP_MS} ms`);
  }
}
