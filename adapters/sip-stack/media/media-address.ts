import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseHostPort } from "../message/uri.ts";
import { isPrivate, isWildcard } from "../transport/addresses.ts";
import { type Flow, TransportError } from "../transport/transport.ts";

/** The addresses of our audio. */
export interface MediaAddress {
  /** The address to bind: on the interface that the signalling uses. */
  readonly local: string;
  /** The IP address in our SDP: the public one if it is known, otherwise the local one. */
  readonly advertised: string;
  /** True if the trunk's server is on the internet: its address is not private. */
  readonly isPublic: boolean;
  /** Address of the trunk's server. */
  readonly server: string;
}

/** The local address of the flow to the trunk, used for our audio. @throws {TransportError} it is unknown */
export async function mediaAddress(flow: Flow, sentBy: string): Promise<MediaAddress> {
  const { address } = flow.local;
  const name = parseHostPort(sentBy)?.host ?? address;
  if (isWildcard(name))
    throw new TransportError("unreachable", "this runtime does not report our own address; set `publicAddress`");
  const advertised = isIP(name) === 0 ? await addressOf(name, address) : name;
  const server = flow.remote.address;
  return { local: address, advertised, isPublic: !isPrivate(server), server };
}

/** The IP address of a public name, in the family that we use. */
async function addressOf(name: string, local: string): Promise<string> {
  const family = isIP(local) === 6 ? 6 : 4;
  try {
    return (await lookup(name, { family })).address;
  } catch (cause) {
    throw new TransportError("dns", `our own public name ${name} has no address; check \`publicAddress\``, { cause });
  }
}
