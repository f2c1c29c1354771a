import { errorText } from "../../../src/base/error-text.ts";
import type { LineHealth } from "../../../src/ports/telephony.ts";
import { TransportError } from "../../sip-stack/transport/transport.ts";
import { offline } from "./registration/presence.ts";
import { openStack, type SipStack, type SipStackOptions } from "./stack.ts";

/** Sockets that could not be opened are tried again after this at the earliest, ms. */
const REOPEN_MS = 5_000;

/** The SIP stack of a trunk: opened when it is first needed, and again some time after a failure. */
export class TrunkStack {
  readonly #options: SipStackOptions;
  #stack: Promise<SipStack> | undefined;
  #cancelReopen = (): void => {};

  constructor(options: SipStackOptions) {
    this.#options = options;
  }

  /** Always the same stack, unless it could not be opened. */
  open(): Promise<SipStack> {
    this.#stack ??= this.#open();
    return this.#stack;
  }

  /** A call failed in the transport: an open stack probes the trunk at once. */
  suspect(detail: string): void {
    void this.#stack?.then(({ presence }) => presence.suspect(detail)).catch(() => {});
  }

  async close(): Promise<void> {
    const stack = await this.#stack?.catch(() => undefined);
    await stack?.close();
    this.#cancelReopen();
  }

  async #open(): Promise<SipStack> {
    const { trunk, system, logger, changed } = this.#options;
    try {
      const stack = await openStack(this.#options);
      stack.presence.start();
      return stack;
    } catch (fault) {
      logger.error({ trunk: trunk.name, err: fault }, "sip: the trunk's sockets could not be opened");
      this.#cancelReopen = system.after(REOPEN_MS, () => {
        this.#stack = undefined;
      });
      changed(stackFault(fault));
      throw fault;
    }
  }
}

/** The health of a trunk whose sockets could not be opened. */
export function stackFault(fault: unknown): LineHealth {
  return offline(errorText(fault), fault instanceof TransportError && fault.lasting);
}
