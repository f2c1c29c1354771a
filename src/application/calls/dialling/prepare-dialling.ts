import type { Call } from "../../../domain/calls/call.ts";
import type { ReleaseCause } from "../../../domain/calls/release-cause.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { DialError, type Telephony } from "../../../ports/telephony.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";
import type { LiveConnection, ProgramContext } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";
import { assertCallerDiallable } from "../creation/callers.ts";
import { assertDiallable } from "../creation/destinations.ts";
import { assertNotOneWay } from "../creation/one-way-calls.ts";
import { assertSipDiallable } from "../creation/sip-choices.ts";
import { calleeRefusalNow } from "./dial-protection.ts";

/** Dependencies of {@link prepareDialling}. */
export type DiallingContext = Pick<Context, "access" | "oneWayCalls"> & ProgramContext;

/**
 * Checks what must hold before a callee is dialled, and connects the client or agent that conducts the call.
 * @param signal aborted if the call ends in the meantime: no callee is dialled
 * @throws {ProgramFailed | DialError | StorageUnavailable} why the call cannot be dialled
 */
export async function prepareDialling(
  context: DiallingContext,
  call: Call,
  telephony: Telephony,
  signal: AbortSignal,
): Promise<LiveConnection | undefined> {
  const program = programOf(call);
  if (program.kind === "live") await program.check(context, call, telephony);
  assertNotOneWay(context, call, telephony);
  await context.access.assertAccess(call.userId, telephony);
  await assertDiallable(context, telephony, call.targetPhone);
  assertCallerDiallable(telephony, call.from);
  assertSipDiallable(telephony, call.sip);
  const isLive = program.kind === "live" && !signal.aborted;
  const connection = isLive ? await program.prepare?.(context, call, telephony, signal) : undefined;
  const refusal = await calleeRefusalNow(context, call, telephony);
  if (refusal) throw refusal;
  return connection;
}

/** Release cause of a call that could not be dialled. */
export function dialRelease(fault: unknown): ReleaseCause {
  if (fault instanceof DialError) return fault.release;
  // The network has not been asked yet, so the call can wait for the database.
  return fault instanceof StorageUnavailable ? "line_lost" : "internal_error";
}
