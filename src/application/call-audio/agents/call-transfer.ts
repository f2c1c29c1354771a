import { errorText } from "../../../base/error.ts";
import { within } from "../../../base/timers.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../../../domain/numbers/phone-number.ts";
import type { ConversationInput } from "../../../ports/conversation.ts";
import type { TransferOutcome } from "../../../ports/telephony.ts";
import { countTransfer, type DestinationsContext, transferRefusal } from "../../calls/creation/destinations.ts";
import type { Context } from "../../context.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";

/** Dependencies of {@link transferCall}. */
export type CallTransferContext = Pick<Context, "log" | "system"> & DestinationsContext;

/** Maximum duration of a transfer, ms: longer than a leg's own limit, whose error states a better reason. */
const TRANSFER_LIMIT_MS = 90_000;

/** The input for an agent whose transfer has failed. */
export type TransferFailed = Extract<ConversationInput, { type: "transfer_failed" }>;

/**
 * Transfers the call of an agent, and posts the outcome. Resolves with undefined if the call has ended for us, and with
 * the input for the agent if it continues. Rejects only with the signal's reason.
 */
export async function transferCall(
  context: CallTransferContext,
  call: CallOf<"DYNAMIC_AGENT">,
  { leg, network, post }: LiveCallMedia,
  to: string,
  signal: AbortSignal,
): Promise<TransferFailed | undefined> {
  const outcome = await outcomeOf(context, call, { leg, network }, to, signal);
  signal.throwIfAborted();
  if (outcome.type === "accepted") {
    post({ type: "transferred", to, detail: outcome.detail });
    return undefined;
  }
  const { detail } = outcome;
  // A value that is not a phone number appears only in the reason: readers of events rely on E.164.
  if (PHONE_NUMBER.test(to))
    post({ type: "noticed", fact: { event: "transfer_failed", data: { to, reason: detail } } });
  return { type: "transfer_failed", to, detail };
}

async function outcomeOf(
  context: CallTransferContext,
  call: CallOf<"DYNAMIC_AGENT">,
  { leg, network }: Pick<LiveCallMedia, "leg" | "network">,
  to: string,
  signal: AbortSignal,
): Promise<TransferOutcome> {
  const { transferTo } = call.message;
  if (!PHONE_NUMBER.test(to)) return failure(`the number ${PHONE_RULE}`);
  if (transferTo !== undefined && !transferTo.includes(to))
    return failure(`transferTo of this call does not list ${to}`);
  if (leg.transfer === undefined) return failure(`"${network.name}" cannot transfer calls`);
  try {
    const refusal = await transferRefusal(context, call, network, to);
    if (refusal !== undefined) return failure(refusal);
    signal.throwIfAborted();
    const limitReason = await countTransfer(context, call);
    if (limitReason !== undefined) return failure(limitReason);
    signal.throwIfAborted();
    const timeoutError = (): Error =>
      new Error(`the network reported no outcome within ${TRANSFER_LIMIT_MS / 1_000} s`);
    return await within(leg.transfer(to, signal), {
      system: context.system,
      ms: TRANSFER_LIMIT_MS,
      timeoutError,
      signal,
    });
  } catch (error) {
    if (!signal.aborted) context.log.warn({ call_id: call.id, err: error }, "a transfer failed");
    return failure(errorText(error));
  }
}

function failure(detail: string): TransferOutcome {
  return { type: "failed", detail };
}
