import { isIP } from "node:net";
import type { MediaAddress } from "../media-address.ts";
import { parseHostPort } from "../message/host-port.ts";
import { canonicalAddress } from "../transport/canonical-address.ts";
import { isPrivate } from "../transport/private-address.ts";
import { broken, type CheckStep, works } from "./step.ts";

/**
 * Whether the far side's audio finds us: compares the address of our SDP with the one that the server sees. Nothing if there is
 * nothing to say.
 * @param configured `publicAddress`
 * @param seen the address that the server sees; undefined: it does not say
 */
export function* addressStep(
  configured: string | undefined,
  seen: string | undefined,
  { local, visible, isPublic }: MediaAddress,
): Generator<CheckStep> {
  const given = configured === undefined || isIP(configured) !== 0 ? configured : parseHostPort(configured)?.host;
  if (given !== undefined && isIP(given) !== 0 && seen !== undefined && differ(given, seen)) {
    const fix = `set \`publicAddress\` to ${seen}, or take it out: then the address that the server sees is used`;
    yield broken("address", `\`publicAddress\` is ${given}, and the server sees us as ${seen}`, fix);
  } else if (isPublic && isPrivate(visible)) {
    const fix = "set `publicAddress` to the address that this machine has on the internet";
    yield broken("address", `our SDP names ${visible}, a private address, and the server is on the internet`, fix);
  } else if (differ(local, visible)) {
    const fix = "let the UDP ports of `rtpPorts` in as they are, from the internet to this machine";
    yield works("address", `this machine is behind a NAT: it has ${local}, and our SDP names ${visible}`, fix);
  }
}

const differ = (one: string, other: string): boolean => canonicalAddress(one) !== canonicalAddress(other);
