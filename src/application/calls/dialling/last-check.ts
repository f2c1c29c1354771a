import { within } from "../../../base/timers.ts";
import type { Call } from "../../../domain/calls/call.ts";
import { numberForms } from "../../../domain/numbers/number-forms.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { DialError, type Telephony } from "../../../ports/telephony.ts";
import { ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";
import { mayForwardTo } from "../creation/destinations.ts";
import { calleeRefusalNow, type DialProtectionContext, doNotCallBlock } from "./dial-protection.ts";

type LastCheckContext = Pick<Context, "callLimits" | "log" | "system"> & DialProtectionContext;

/** Maximum time for the storage to respond, ms: the network keeps the call waiting in the meantime. */
const CHECK_MS = 5_000;

/**
 * Reason why the network must not call a number for this call now; undefined if it may. Never rejects: a number that
 * cannot be looked up is not called.
 */
export async function refusalNow(
  context: LastCheckContext,
  call: Call,
  network: Telephony,
  phone: string,
): Promise<Error | undefined> {
  const timeoutError = (): Error =>
    new StorageUnavailable(`${phone} could not be looked up within ${CHECK_MS / 1_000} s`);
  try {
    return await within(refusalOf(context, call, network, phone), {
      system: context.system,
      ms: CHECK_MS,
      timeoutError,
    });
  } catch (error) {
    context.log.warn({ call_id: call.id, err: error }, "a number could not be checked, so it is not called");
    return error instanceof Error ? error : new StorageUnavailable(String(error));
  }
}

async function refusalOf(
  context: LastCheckContext,
  call: Call,
  network: Telephony,
  phone: string,
): Promise<Error | undefined> {
  const isCallee = numberForms(call.targetPhone).includes(phone);
  if (!isCallee && !mayForwardTo(context, call, phone))
    return new DialError("rejected_by_network", `this call may not go to ${phone}`, { refusal: "call" });
  if (isCallee) return await calleeRefusalNow(context, call, network);
  const block = await doNotCallBlock(context, call.userId, phone);
  return block && new ProgramFailed(block.reason, block.detail);
}
