import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { checkStart } from "./checker.ts";
import type { Fault } from "./plan.ts";
import { CUT } from "./postgres-place.ts";
import type { Stage } from "./stage.ts";

/** Fate of the first of two servers. */
export const LOSSES = ["kill -9", "SIGTERM", "SIGSTOP", "cut connections"] as const;

/** Time within which a server that lost the database has ended on a busy machine, ms. */
const END_MS = 10_000;

/** Takes the database from the first server, lets the second one take over, and brings back the first. */
export async function takeOver(
  stage: Stage,
  { loss }: Extract<Fault, { readonly do: "take over" }>,
  rest: () => Promise<void>,
): Promise<void> {
  const { server, place, journal, phones } = stage;
  if (loss === "SIGSTOP") server.pause();
  phones.ownerLost();
  const first = server.giveUp();
  if (loss === "kill -9") {
    await first.stop("SIGKILL");
    phones.serverDied();
  } else if (loss === "SIGTERM") void first.stop("SIGTERM");
  else if (loss === "cut connections") await place.fail(CUT);

  journal.note("the second server is to take over");
  await server.takenOver();
  const takenAt = performance.now();
  await checkStart(stage);
  if (loss === "SIGSTOP") {
    journal.note("SIGCONT");
    phones.ownerResumed();
    process.kill(first.pid, "SIGCONT");
  }
  await place.mend();
  if (loss === "kill -9") server.startAgain();
  await rest();
  const code = await Promise.race([first.gone, pause(END_MS)]);
  if (code === undefined)
    journal.violated("a server that lost the database ends", `process ${first.pid}`, "it lives on");
  else journal.note(`the first server has ended (${code})`);
  if (loss !== "kill -9") phones.checkSilent(takenAt);
  return server.kill();
}
