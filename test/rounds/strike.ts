import { setTimeout as pause } from "node:timers/promises";
import { ServerGone } from "./checker.ts";
import type { Fault, Plan } from "./plan.ts";
import { endCall } from "./requests.ts";
import type { Stage } from "./stage.ts";
import { takeOver } from "./take-over.ts";

/** Calls that are ended while the storage fails. */
const MAX_ENDED = 3;
/** Maximum time of an undisturbed hang-up on a busy machine, ms. */
const HANG_UP_MS = 5_000;
const LOOK_MS = 5;

/** Carries out the plan on the server, at the planned moment; the server is dead afterwards. @param rest waits until all work has settled */
export async function strike(stage: Stage, { moment, fault }: Plan, rest: () => Promise<void>): Promise<void> {
  let struck: Promise<void> = Promise.resolve();
  await stage.moments.at(moment, () => {
    struck = act(stage, fault, rest);
    struck.catch(() => {}); // awaited below
  });
  await struck.catch((error: unknown) => {
    if (!(error instanceof ServerGone)) throw error; // recorded where it was observed
  });
}

/** Immediate steps are done before this returns. */
async function act(stage: Stage, fault: Fault, rest: () => Promise<void>): Promise<void> {
  const { server, place } = stage;
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
      if (fault.next === "settle") await rest();
      else await pause(fault.laterMs);
      return server.kill();
    case "take over":
      return takeOver(stage, fault, rest);
    case "settle":
      await rest();
      return server.stop();
    case "outage": {
      stage.journal.note(`${fault.outage}: begins`);
      await place.fail(fault.outage);
      stage.journal.note("the storage fails");
      if (fault.hangUp) await endLiveCalls(stage, fault.outage);
      await pause(fault.ms);
      if (fault.next === "kill") return server.kill();
      if (fault.next === "stop") return server.stop();
      await place.mend();
      stage.journal.note("the storage works again");
      await rest();
      return server.kill();
    }
  }
}

/** Ends calls that are on the line. Their phones must be free, whatever the storage does; if it cannot even be read, so that no request can be admitted, the calls end without requests. */
async function endLiveCalls(stage: Stage, outage: string): Promise<void> {
  const { journal, phones, place } = stage;
  const live = journal.known.filter(({ number }) => phones.hasLeg(number)).slice(0, MAX_ENDED);
  const isReadable = place.readable(outage);
  if (isReadable) for (const call of live) void endCall(stage, call);
  const rule = isReadable ? "DELETE hangs up, whatever the storage does" : "a call ends, whatever the storage does";
  const deadline = performance.now() + HANG_UP_MS;
  for (const { id, number } of live) {
    while (phones.hasLeg(number) && performance.now() < deadline) await pause(LOOK_MS);
    if (phones.hasLeg(number)) journal.violated(rule, id!, `its phone is connected ${HANG_UP_MS} ms later`);
  }
}
