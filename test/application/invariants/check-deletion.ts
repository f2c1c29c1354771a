import { isActive } from "../../../src/domain/call.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { ALICE } from "../../support/application.ts";
import type { Run } from "./run.ts";

/**
 * Checks that nothing is left of deleted instances: of those whose DELETE has answered 204, or of all that read as 404.
 * What an adapter never answered cannot have been done.
 */
export async function checkCleared(run: Run, which: "answered" | "all"): Promise<void> {
  const { findings, requests, process, adapterFaults, database } = run;
  for (const id of run.instances) {
    const answered = requests.about("delete", id).some(({ answer }) => answer === "done");
    if (!answered && (which === "answered" || !(await isGone(run, id)))) continue;
    const hung = (method: string) => adapterFaults.met.has(`${method} ${id}`);
    const tell = (truth: boolean, detail: string) => findings.expect("deleted-is-cleared", truth, `${id} ${detail}`);
    const open = process.network.lines.some((line) => line.instance.id === id && !line.closed);
    tell(!open || hung("close") || hung("unlink") || hung("open"), "has an open line");
    tell(!process.network.devices.has(id) || hung("unlink") || hung("open"), "is still linked at the network");
    tell((await database.instances.loadCredentials(id)) === undefined, "still has credentials");
    const active = (await database.calls.active(id)).filter(({ status }) => isActive(status));
    tell(active.length === 0, `still has ${active[0]?.id}`);
  }
}

/** Whether an instance reads as 404. */
export async function isGone({ process }: Run, instanceId: string): Promise<boolean> {
  try {
    await process.app.instances.get(ALICE, instanceId);
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}
