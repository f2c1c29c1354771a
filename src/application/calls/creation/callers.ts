import type { Principal } from "../../../domain/access/principal.ts";
import { type CallerId, isCallerIdAllowed } from "../../../domain/numbers/caller-id.ts";
import { Refusal } from "../../../domain/refusal.ts";
import { DialError, type Telephony } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";

/**
 * Checks that the network allows this caller.
 * @throws {Refusal} `caller_id_not_allowed`; names the allowed numbers only to users of the network
 */
export async function assertCallerAllowed(
  { access }: Pick<Context, "access">,
  { userId, demoInstanceId }: Principal,
  network: Telephony | undefined,
  caller: CallerId | undefined,
): Promise<void> {
  const reason = network && refusalOf(network, caller);
  if (reason === undefined) return;
  const { callerIds = [] } = network?.capabilities ?? {};
  const mayKnow = demoInstanceId === undefined && network !== undefined && (await access.isOpenTo(userId, network));
  const hint = !mayKnow || callerIds === "*" || callerIds.length === 0 ? "" : `; allowed: ${callerIds.join(", ")}`;
  throw new Refusal("caller_id_not_allowed", `${reason}${hint}`);
}

/**
 * Repeats the caller check before dialling: the network's numbers may have changed since the call was created.
 * @throws {DialError} `rejected_by_network`
 */
export function assertCallerDiallable(network: Telephony, caller: CallerId | undefined): void {
  const reason = refusalOf(network, caller);
  if (reason !== undefined) throw new DialError("rejected_by_network", `not dialled: ${reason}`);
}

function refusalOf({ name, capabilities }: Telephony, caller: CallerId | undefined): string | undefined {
  if (caller === undefined) return undefined;
  const { callerIds } = capabilities;
  if (callerIds === undefined) return `calls over "${name}" cannot choose their caller`;
  const { phoneNumber } = caller;
  if (phoneNumber === undefined || isCallerIdAllowed(phoneNumber, callerIds)) return undefined;
  return `calls over "${name}" may not come from ${phoneNumber}`;
}
