import { ALAW_LEVELS, alawCode, MULAW_LEVELS, mulawCode } from "../ports.ts";

const PCMU = 0;
const PCMA = 8;
const MULAW_OF_ALAW = Uint8Array.from(ALAW_LEVELS, mulawCode);
const ALAW_OF_MULAW = Uint8Array.from(MULAW_LEVELS, alawCode);

/** Whether a codec is the other law of G.711: a peer may send any codec that both descriptions list (RFC 3264 section 6.1). */
export function otherLaw(payloadType: number, agreed: number | undefined): boolean {
  return (payloadType === PCMU && agreed === PCMA) || (payloadType === PCMA && agreed === PCMU);
}

/** Converts a payload from one law to the other, in place. */
export function translate(bytes: Uint8Array, at: number, length: number, from: number): void {
  const codes = from === PCMA ? MULAW_OF_ALAW : ALAW_OF_MULAW;
  for (let i = at; i < at + length; i++) bytes[i] = codes[bytes[i]!]!;
}
