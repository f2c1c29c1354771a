import { isIP } from "node:net";
import type { MediaAddress } from "../../../sip-stack/media/media-address.ts";
import { parseHostPort } from "../../../sip-stack/message/host-port.ts";
import { canonicalAddress } from "../../../sip-stack/transport/canonical-address.ts";
import { isPrivate } from "../../../sip-stack/transport/private-address.ts";
import { broken, type CheckStep, works } from "./step.ts";

/**
 * Checks whether remote audio can reach us: compares the address in our SDP with the address that the server sees. No
 * step if there is nothing to report.
 * @param configured `publicAddress`
 * @param seen the address that the server sees; undefined: unknown
 */
export function* addressStep(
  configured: string | undefined,
  seen: string | undefined,
  { local, visible, isPublic }: MediaAddress,
): Generator<CheckStep> {
  const given = configured === undefined || isIP(configured) !== 0 ? configured : parseHostPort(configured)?.host;
  if (given !== undefined && isIP(given) !== 0 && seen !== undefined && differ(given, seen)) {
    const fix = `set \`publicAddress\` to ${seen}, or leave it out to use the address that the server sees`;
    yield broken("address", `\`publicAddress\` is ${given}, and the server sees us as ${seen}`, fix);
  } else if (isPublic && isPrivate(visible)) {
    const fix = "set `publicAddress` to the address that this machine has on the internet";
    yield broken("address", `our SDP names ${visible}, a private address, and the server is on the internet`, fix);
  } else if (differ(local, visible)) {
    const fix = "forward the UDP ports of `rtpPorts` unchanged, from the internet to this machine";
    yield works("address", `this machine is behind a NAT: it has ${local}, and our SDP names ${visible}`, fix);
  }
}

const differ = (one: string, other: string): boolean => canonicalAddress(one) !== canonicalAddress(other);
