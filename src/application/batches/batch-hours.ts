import type { Batch } from "../../domain/batches/batch.ts";
import { type TargetHours, targetHours } from "../../domain/batches/target-time.ts";
import { type NumberProtection, protectionInForce } from "../../domain/dialling-rules/number-protection.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";

/**
 * A batch's number protection, including calling hours: the server's, combined with one network's. That is the network
 * of the first instance with an open line, or else of the first instance whose network is mounted.
 */
export async function batchProtection(
  { policy, storage, telephony }: Pick<Context, "policy" | "storage" | "telephony">,
  lines: Pick<Lines, "find">,
  batch: Pick<Batch, "instanceIds">,
): Promise<NumberProtection> {
  let network = openNetwork(lines, batch);
  for (const id of batch.instanceIds) {
    if (network) break;
    network = telephony.get((await storage.instances.get(id))?.provider ?? "");
  }
  return protectionInForce(policy, network?.capabilities.protection);
}

/** The calling hours of a running batch, which has open lines; otherwise like {@link batchProtection}. */
export function hoursOfBatch(
  { policy }: Pick<Context, "policy">,
  lines: Pick<Lines, "find">,
  batch: Pick<Batch, "schedule" | "instanceIds">,
): TargetHours {
  const network = openNetwork(lines, batch);
  return targetHours(batch.schedule, protectionInForce(policy, network?.capabilities.protection));
}

function openNetwork(lines: Pick<Lines, "find">, { instanceIds }: Pick<Batch, "instanceIds">): Telephony | undefined {
  for (const id of instanceIds) {
    const monitor = lines.find(id);
    if (monitor) return monitor.telephony;
  }
  return undefined;
}
