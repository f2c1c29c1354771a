import { within } from "../../base/timers.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import { NetworkSilent, type PairingCode } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { Lines } from "./lines.ts";

/** One request for a pairing code. */
export interface PairingRequest {
  readonly instance: Instance;
  readonly phone: string;
  /** Ends the wait. */
  readonly signal: AbortSignal | undefined;
}

/**
 * A code for the phone with this number, which links the line once it is typed there.
 * @throws {Refusal} `pairing_code_unsupported`, `pairing_code_unavailable`
 */
export async function pairingCodeOf(
  { system, timings, telephony }: Pick<Context, "system" | "timings" | "telephony">,
  lines: Lines,
  { instance, phone, signal }: PairingRequest,
): Promise<PairingCode> {
  const name = instance.provider;
  if (!telephony.has(name))
    throw new Refusal("pairing_code_unavailable", `no telephony "${name}" is mounted on this server`);
  const monitor = lines.monitorOf(instance);
  const unsupported = (hint: string) =>
    new Refusal("pairing_code_unsupported", `the network "${name}" has no pairing codes; ${hint}`);
  if (monitor.linksAutomatically) throw unsupported("it links automatically as soon as it is online");
  const abort = new AbortController();
  const timeoutError = () => new NetworkSilent(`no pairing code came within ${timings.linkCodeMs} ms`);
  try {
    const bound = { system, ms: timings.linkCodeMs, timeoutError, signal };
    const code = await within(monitor.pairingCode(phone, abort.signal), bound);
    if (code) return code;
  } catch (cause) {
    throw new Refusal("pairing_code_unavailable", reasonWithoutCode(cause, signal), { cause });
  } finally {
    abort.abort(new Error("the pairing code is no longer needed"));
  }
  throw unsupported(`scan the code of GET /v1/instances/${instance.id}/configure`);
}

/**
 * The reason why a network returned no code.
 * @throws the cause, if the storage is unavailable, or the reason of the signal
 */
export function reasonWithoutCode(cause: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted();
  if (cause instanceof StorageUnavailable) throw cause;
  if (cause instanceof NetworkSilent) return cause.message;
  return "the network could not be asked; the server's log has the reason";
}

/** Instruction for the person who holds the phone. */
export function pairingInstruction(phone: string): string {
  return `Type this code on the phone with the number ${phone}, in the messaging application under linked devices. It links the number once; request another one if it expires.`;
}
