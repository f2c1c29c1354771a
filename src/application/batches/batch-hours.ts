import type { Batch } from "../../domain/batches/batch.ts";
import { type TargetHours, targetHours } from "../../domain/batches/target-time.ts";
import { type NumberProtection, protectionInForce } from "../../domain/dialling-rules/number-protection.ts";
import type { Telephony } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";

/**
 * The number protection that a batch has, with its calling hours: the server's and that of one network, which is the
 * network of its first instance with an open line, or else of its first instance with a mounted network.
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

/** The rules for the hours of a batch that calls, as {@link batchProtection}: it has open lines. */
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
