import { type PeerCertificate, TLSSocket } from "node:tls";
import type { System } from "../../../../src/ports/system.ts";
import { openSipStream } from "../../../sip-stack/transport/open-connection.ts";
import { type Hop, TransportError } from "../../../sip-stack/transport/transport.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { brokenStep, type CheckStep, faultMessage, passedStep, skippedStep } from "./step.ts";

const CONNECT_MS = 5_000;
const DAY_MS = 86_400_000;

/** Connects to the first hop that accepts a connection. */
export async function connectionStep(
  hops: readonly Hop[],
  trunk: ResolvedTrunk,
  { system, signal }: { readonly system: System; readonly signal: AbortSignal },
): Promise<CheckStep> {
  const { tls } = trunk;
  const refusals: string[] = [];
  let isCertificateFault = false;
  for (const hop of hops) {
    if (hop.kind === "udp")
      return skippedStep("connection", "UDP has no connection; the next step shows whether datagrams come back");
    const startedAt = system.monotonic();
    try {
      const socket = await openSipStream(hop, { system, tls, localAddress: undefined, timeoutMs: CONNECT_MS }, signal);
      const ms = Math.round(system.monotonic() - startedAt);
      const facts = socket instanceof TLSSocket ? certificateText(socket, system.now()) : "";
      socket.destroy();
      const earlierRefusals = refusals.length === 0 ? "" : ` (after: ${refusals.join("; ")})`;
      return passedStep(
        "connection",
        `${hop.kind.toUpperCase()} to ${hop.address} port ${hop.port} in ${ms} ms${facts}${earlierRefusals}`,
      );
    } catch (fault) {
      refusals.push(faultMessage(fault));
      isCertificateFault ||= fault instanceof TransportError && fault.fault === "tls";
    }
  }
  return brokenStep("connection", refusals.join("; "), isCertificateFault ? certificateFix(trunk, hops) : PORT_FIX);
}

const PORT_FIX = "check the port and the transport in `server`, and that the firewall allows outgoing connections";

/** The fix for a refused certificate: the name that it must be for, and the options that change that. */
function certificateFix({ tls, outboundProxy }: ResolvedTrunk, hops: readonly Hop[]): string {
  const option = outboundProxy === undefined ? "`server`" : "`outboundProxy`";
  const name =
    tls.servername === undefined
      ? `"${hops[0]?.host}", the host of ${option}`
      : `"${tls.servername}" (\`tls.servername\`)`;
  return `the certificate must be for ${name}: set \`tls.servername\` to a name in it, and \`tls.ca\` if you have your own certificate authority; or check port and transport in ${option}`;
}

/** The peer's certificate and TLS version, if the runtime reports them. */
function certificateText(socket: TLSSocket, now: number): string {
  const tryRead = (read: () => string | null): string => {
    try {
      return read() ?? "";
    } catch {
      return "";
    }
  };
  const version = tryRead(() => socket.getProtocol());
  const description = tryRead(() => {
    const { subject, issuer, valid_to } = socket.getPeerCertificate() as Partial<PeerCertificate>;
    if (valid_to === undefined) return null;
    const days = Math.floor((Date.parse(valid_to) - now) / DAY_MS);
    return `certificate of ${nameOf(subject)}, issued by ${nameOf(issuer)}, valid for ${days} more days`;
  });
  const facts = [version, description].filter((fact) => fact !== "");
  return facts.length === 0 ? "" : `: ${facts.join(", ")}`;
}

function nameOf(name: { readonly CN?: string | string[]; readonly O?: string | string[] } | undefined): string {
  return [name?.CN ?? name?.O ?? "an unnamed subject"].flat().join(", ");
}
