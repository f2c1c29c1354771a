import { ClosedError } from "../../../src/base/error.ts";
import type { System } from "../../../src/ports/system.ts";
import type { CallerIdRule, InstanceRef, Line, LineHost, SipRule, Telephony } from "../../../src/ports/telephony.ts";
import type { Carrier } from "./carrier.ts";
import type { SipLine } from "./line.ts";

/** Options of {@link sipNetwork}. */
export interface SipNetworkOptions extends Required<Pick<Telephony, "users" | "refuses" | "close">> {
  /** The name without `sip/`. */
  readonly name: string;
  /** The trunk or route as named in messages: `trunk acme`. */
  readonly label: string;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** The numbers that calls may choose as their caller; undefined if there is no choice. */
  readonly callerIds: CallerIdRule | undefined;
  /** Maximum number of concurrent calls per instance. */
  readonly lines: number;
  /** True if its calls can be transferred. */
  readonly transfers: boolean;
  /** Header fields and URI hosts that a call may choose for its INVITE. */
  readonly sip: SipRule;
  readonly system: System;
  /** Returns the carrier that all its lines share. */
  readonly open: () => Promise<Carrier>;
}

/** A network over one of the operator's trunks or routes. */
export function sipNetwork(options: SipNetworkOptions): Telephony {
  const {
    name,
    label,
    users,
    sampleRate,
    callerIds,
    lines: linesOfInstance,
    transfers,
    sip,
    system,
    refuses: refusalOf,
  } = options;
  const lines = new Set<SipLine>();
  let closing: Promise<void> | undefined;

  async function open(_: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line> {
    const assertOpen = (): void => {
      signal.throwIfAborted();
      if (closing !== undefined) throw new ClosedError(`${label} is closed`);
    };
    assertOpen();
    const [carrier, { SipLine }] = await Promise.all([options.open(), import("./line.ts")]);
    assertOpen();
    const line = new SipLine({
      host,
      carrier,
      onClosed() {
        cancelLink();
        lines.delete(line);
      },
    });
    lines.add(line);
    const cancelLink = system.after(0, () => void line.link()); // the caller gets the line before its first report
    return line;
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.close()));
    await options.close();
  }

  return {
    name: `sip/${name}`,
    capabilities: {
      ...{ dtmf: "event", inboundAudioCertain: false, linking: "operator" },
      ...{ sampleRate, callerIds, lines: linesOfInstance, transfers, sip },
    },
    users,
    open,
    refuses: refusalOf,
    close: () => (closing ??= close()),
  };
}
