import { isActive } from "../../../src/domain/calls/call.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { ALICE } from "../../support/application.ts";
import type { Run } from "./run.ts";

/**
 * Checks that deleted instances leave no records: "answered" checks those whose DELETE returned 204, "all" also those
 * that read as 404. Requests that an adapter never completed are excused.
 */
export async function checkCleared(run: Run, which: "answered" | "all"): Promise<void> {
  const { findings, requests, process, adapterFaults, database } = run;
  for (const id of run.instances) {
    const isAnswered = requests.find("delete", id).some(({ response }) => response === "done");
    if (!isAnswered && (which === "answered" || !(await isNotFound(run, id)))) continue;
    const isHanging = (method: string) => adapterFaults.excusedWaits.has(`${method} ${id}`);
    const expectThat = (holds: boolean, detail: string) =>
      findings.expect("deleted-is-cleared", holds, `${id} ${detail}`);
    const isRacing = (kind: "configure" | "scan") =>
      requests
        .find(kind, id)
        .some(({ respondedAt = Infinity, process: requester }) =>
          requests.find("delete", id).some((other) => other.process === requester && respondedAt >= other.askedAt),
        );
    // A device whose link was never stored is unknown to the application.
    const isUnstored = requests.find("scan", id).some(({ response }) => response !== "done");
    const isOpen = process.network.lines.some((line) => line.instance.id === id && !line.closed);
    expectThat(
      !isOpen || isHanging("close") || isHanging("unlink") || isHanging("open") || isRacing("configure"),
      "has an open line",
    );
    expectThat(
      !process.network.devices.has(id) || isHanging("unlink") || isHanging("open") || isUnstored || isRacing("scan"),
      "is still linked at the network",
    );
    expectThat((await database.instances.loadCredentials(id)) === undefined, "still has credentials");
    const activeCalls = (await database.calls.active(id)).filter(({ status }) => isActive(status));
    expectThat(activeCalls.length === 0, `still has ${activeCalls[0]?.id}`);
  }
}

/** True if an instance's deletion is stored, whether finished or not. */
export async function isDeleted(database: Storage, instanceId: string): Promise<boolean> {
  return (await database.instances.get(instanceId))?.status === "DELETED";
}

/** True if an instance reads as 404. */
export async function isNotFound({ process }: Run, instanceId: string): Promise<boolean> {
  try {
    await process.app.instances.get(ALICE, instanceId);
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}
