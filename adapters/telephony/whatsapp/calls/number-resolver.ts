import { errorText } from "../../../../src/base/error.ts";
import { within } from "../../../../src/base/timers.ts";
import { numberForms } from "../../../../src/domain/numbers/number-forms.ts";
import type { System } from "../../../../src/ports/system.ts";
import { DialError } from "../../../../src/ports/telephony.ts";
import type { WhatsAppClient } from "../../../../src/ports/whatsapp-client.ts";
import { DIAL_RETRY_MS, dialFault } from "./dial-faults.ts";
import { readJid } from "./jid.ts";

/** Timeout for looking up a number at WhatsApp, ms. */
export const RESOLVE_MS = 10_000;
/** Time for which a result is cached, ms: owners change, and numbers leave WhatsApp. */
export const CACHE_MS = 3_600_000;
/** Maximum number of cached results. */
const MAX_RESULTS = 1_000;
/** Maximum number of entries read per result. */
const MAX_ENTRIES = 8;

/** A number's WhatsApp addresses. */
export interface ResolvedNumber {
  /** `5511987654321@s.whatsapp.net`: the form of the number that is registered on WhatsApp. */
  readonly phoneJid: string;
  /** The address to call: the address that hides the number, if there is one. */
  readonly address: string;
}

/** Looks up the addresses of numbers at WhatsApp, and caches them. */
export class NumberResolver {
  readonly #system: Pick<System, "after" | "monotonic">;
  readonly #cache = new Map<string, ResolvedNumber & { readonly until: number }>();

  constructor(system: Pick<System, "after" | "monotonic">) {
    this.#system = system;
  }

  /**
   * The address of a number.
   * @param phoneNumber E.164
   * @throws {DialError} `number_invalid`: the number is not on WhatsApp; `line_lost`: WhatsApp did not respond
   */
  async resolve(client: WhatsAppClient, phoneNumber: string, signal: AbortSignal): Promise<ResolvedNumber> {
    const cachedNumber = this.#cache.get(phoneNumber);
    if (cachedNumber !== undefined && cachedNumber.until > this.#system.monotonic()) return cachedNumber;
    this.#cache.delete(phoneNumber);
    const resolvedNumber = readReply(await this.#lookUp(client, numberForms(phoneNumber), signal));
    if (resolvedNumber === undefined) throw new DialError("number_invalid", `${phoneNumber} is not on WhatsApp`);
    if (this.#cache.size >= MAX_RESULTS) this.#cache.delete(this.#cache.keys().next().value as string);
    this.#cache.set(phoneNumber, { ...resolvedNumber, until: this.#system.monotonic() + CACHE_MS });
    return resolvedNumber;
  }

  /** Forgets the address of a number after a call to it has failed. */
  forget(phoneNumber: string): void {
    this.#cache.delete(phoneNumber);
  }

  async #lookUp(client: WhatsAppClient, forms: readonly string[], signal: AbortSignal): Promise<unknown> {
    const createTimeoutError = (): Error => noReplyError(`no response within ${RESOLVE_MS / 1_000} s`);
    try {
      const reply = Promise.resolve().then(() =>
        client.profile.getLidsByPhoneNumbers(forms.map((form) => form.slice(1))),
      );
      return await within(reply, { system: this.#system, ms: RESOLVE_MS, timeoutError: createTimeoutError, signal });
    } catch (error) {
      if (signal.aborted) throw new DialError("released", "hung up before the number was looked up");
      const fault = dialFault(error);
      // No call was placed, so the call may wait and be dialled later.
      throw fault.release === "line_lost" ? fault : noReplyError(errorText(error));
    }
  }
}

function noReplyError(detail: string): DialError {
  const text = `the number could not be looked up at WhatsApp: ${detail}`;
  return new DialError("line_lost", text, { retryAfterMs: DIAL_RETRY_MS });
}

/** The first form that exists. The client is not trusted to keep its types. */
function readReply(reply: unknown): ResolvedNumber | undefined {
  if (!Array.isArray(reply)) return undefined;
  for (const entry of reply.slice(0, MAX_ENTRIES)) {
    if (typeof entry !== "object" || entry === null) continue;
    const { phoneJid, lidJid, exists, invalid } = entry as Readonly<Record<string, unknown>>;
    if (exists !== true || invalid === true) continue;
    const phone = addressAt("s.whatsapp.net", phoneJid);
    if (phone === undefined) continue;
    const lid = addressAt("lid", lidJid);
    return { phoneJid: phone, address: lid ?? phone };
  }
  return undefined;
}

/** The address of a subscriber rather than a device; undefined if it is on another server. */
function addressAt(server: string, value: unknown): string | undefined {
  const jid = readJid(value);
  return jid?.server === server ? `${jid.user}@${server}` : undefined;
}
