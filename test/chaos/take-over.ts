import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { checkStart } from "./checker.ts";
import type { Fault } from "./plan.ts";
import { CUT } from "./postgres-database.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** Failures of the first of two servers. */
export const LOSSES = ["kill -9", "SIGTERM", "SIGSTOP", "cut connections"] as const;

/** Time within which a server that lost the database has ended on a busy machine, ms. */
const END_MS = 10_000;

/** Takes the database from the first server, lets the second one take over, and brings back the first. */
export async function takeOver(
  context: SequenceContext,
  { loss }: Extract<Fault, { readonly do: "take over" }>,
  settle: () => Promise<void>,
): Promise<void> {
  const { server, database, journal, phones } = context;
  if (loss === "SIGSTOP") server.pause();
  phones.ownerLost();
  const first = server.abandon();
  if (loss === "kill -9") {
    await first.stop("SIGKILL");
    phones.serverDied();
  } else if (loss === "SIGTERM") void first.stop("SIGTERM");
  else if (loss === "cut connections") await database.fail(CUT);

  journal.note("waiting for the second server to take over");
  await server.waitForTakeover();
  const takenAt = performance.now();
  await checkStart(context);
  if (loss === "SIGSTOP") {
    journal.note("SIGCONT");
    phones.ownerResumed();
    process.kill(first.pid, "SIGCONT");
  }
  await database.repair();
  if (loss === "kill -9") server.restart();
  await settle();
  const code = await Promise.race([first.exited, pause(END_MS)]);
  if (code === undefined)
    journal.reportViolation("a server that lost the database ends", `process ${first.pid}`, "it is still running");
  else journal.note(`the first server has ended (${code})`);
  if (loss !== "kill -9") phones.checkSilent(takenAt);
  return server.kill();
}
