import { SipHeaders } from "../message/headers.ts";
import { writeHostPort } from "../message/host-port.ts";
import { type SipResponse, sipRequest } from "../message/message.ts";
import { randomText } from "../message/random-text.ts";
import type { System } from "../ports.ts";
import type { Flow, Hop, Transports } from "../transport/transport.ts";
import { newBranch, viaOf } from "./branch.ts";
import type { ClientScope } from "./client-scope.ts";

/** Responses of a proxy whose server does not work (RFC 3261 section 21). */
const SERVER_DOWN: ReadonlySet<number> = new Set([408, 503]);

/** Options of {@link probeHop}. */
export interface HopProbeOptions extends Pick<ClientScope, "open" | "timers"> {
  readonly system: System;
  readonly transports: Transports;
  /** Whether the peer responds to OPTIONS; else a connection is enough, and a hop of UDP counts as working. */
  readonly asks: boolean;
  readonly signal: AbortSignal;
}

/** Probes a failed hop with OPTIONS (RFC 3261 section 11), on another connection than the `dead` one. */
export async function probeHop(hop: Hop, dead: Flow | undefined, options: HopProbeOptions): Promise<boolean> {
  const { system, transports, timers, open, asks, signal } = options;
  const flow = await transports.connect(hop, signal, dead);
  if (!asks) return true;
  const sentBy = transports.sentBy(flow);
  const uri = `sip:${writeHostPort({ host: hop.host, port: undefined })}`;
  const headers = new SipHeaders()
    .add("Via", viaOf(flow.kind, sentBy, newBranch(system)))
    .add("Max-Forwards", "70")
    .add("From", `<sip:${sentBy}>;tag=${randomText(system, 8)}`)
    .add("To", `<${uri}>`)
    .add("Call-ID", randomText(system, 16))
    .add("CSeq", "1 OPTIONS");
  return await new Promise((resolve, reject) => {
    const final = ({ status }: SipResponse): void => resolve(!SERVER_DOWN.has(status));
    const owner = { final, failed: reject, provisional() {}, late() {}, cancel() {} };
    open(sipRequest("OPTIONS", uri, headers), flow, { giveUpMs: timers.nextHopMs }, owner).start();
  });
}
