import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseHostPort } from "./message/host-port.ts";
import { type Hop, TransportError, type Transports } from "./transport/transport.ts";

/** An offer with such an address would put the call on hold. */
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Where the audio of our calls is. */
export interface MediaAddress {
  /** The address to bind: on the interface that the signalling uses. */
  readonly local: string;
  /** The address that the far side is told, an IP address: the public one where it is known, else the same. */
  readonly visible: string;
}

/** Finds the address for our audio: that of the way on which the trunk is reached. @throws {TransportError} on none */
export async function mediaAddress({
  transports,
  hops,
  signal,
}: {
  readonly transports: Pick<Transports, "connect" | "sentBy">;
  readonly hops: () => Promise<readonly Hop[]>;
  readonly signal: AbortSignal;
}): Promise<MediaAddress> {
  let fault: unknown = new TransportError("unreachable", "the trunk's server has no address");
  for (const hop of await hops()) {
    try {
      const flow = await transports.connect(hop, signal);
      const { address } = flow.local;
      const name = parseHostPort(transports.sentBy(flow))?.host ?? address;
      if (WILDCARDS.has(name))
        throw new TransportError("unreachable", "this runtime does not tell our own address; set `publicAddress`");
      return { local: address, visible: isIP(name) === 0 ? await addressOf(name, address) : name };
    } catch (reason) {
      if (signal.aborted) throw signal.reason;
      fault = reason;
    }
  }
  throw fault;
}

/** The IP address behind a public name, of the family that we use. */
async function addressOf(name: string, local: string): Promise<string> {
  const family = isIP(local) === 6 ? 6 : 4;
  try {
    return (await lookup(name, { family })).address;
  } catch (cause) {
    throw new TransportError("dns", `our own public name ${name} has no address; check \`publicAddress\``, { cause });
  }
}
