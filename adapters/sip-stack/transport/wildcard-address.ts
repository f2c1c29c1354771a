/** True for the address of zeros: no address in particular, and in an SDP a missing one (RFC 3264 section 8.4). */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
