import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseHostPort } from "./message/host-port.ts";
import { isPrivate } from "./transport/private-address.ts";
import { type Flow, TransportError } from "./transport/transport.ts";

/** An offer with such an address would put the call on hold. */
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Where the audio of our calls is. */
export interface MediaAddress {
  /** The address to bind: on the interface that the signalling uses. */
  readonly local: string;
  /** The IP address in our SDP: the public one if it is known, else the local one. */
  readonly visible: string;
  /** The trunk's server is on the internet: its address is not private. */
  readonly isPublic: boolean;
}

/** Finds the address for our audio: that of the way on which the trunk is reached. @throws {TransportError} on none */
export async function mediaAddress(flow: Flow, sentBy: string): Promise<MediaAddress> {
  const { address } = flow.local;
  const name = parseHostPort(sentBy)?.host ?? address;
  if (WILDCARDS.has(name))
    throw new TransportError("unreachable", "this runtime does not tell our own address; set `publicAddress`");
  const visible = isIP(name) === 0 ? await addressOf(name, address) : name;
  return { local: address, visible, isPublic: !isPrivate(flow.remote.address) };
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
