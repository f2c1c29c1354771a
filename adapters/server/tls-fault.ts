import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { CannotListen, type Tls } from "./listening.ts";

/** Reason why a certificate or its key cannot be used. */
export interface TlsFault {
  readonly part: keyof Tls;
  readonly sentence: string;
}

const ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
/** Start of each certificate in a chain. */
const BEGIN = /^(?=-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----)/m;

/**
 * Fault of a certificate and its key. Runtimes report it in their TLS library's words, or not at all; each library
 * decides which keys are too weak.
 */
export function tlsFault({ cert, key }: Tls): TlsFault | undefined {
  const certificateKey = publicKeyOf(cert);
  if (!certificateKey)
    return { part: "cert", sentence: "there is no certificate in it; it must have -----BEGIN CERTIFICATE-----" };
  if (ENCRYPTED.test(key))
    return { part: "key", sentence: "the key is encrypted; decrypt it with: openssl pkey -in KEY -out PLAIN_KEY" };
  const publicKey = publicHalf(key);
  if (!publicKey)
    return { part: "key", sentence: "there is no private key in it; it must have -----BEGIN PRIVATE KEY-----" };
  if (!spki(publicKey).equals(spki(certificateKey)))
    return {
      part: "key",
      sentence: "the key belongs to another certificate; use the one that the certificate was made with",
    };
  return chainFault(cert) ?? libraryFault({ cert, key });
}

/** @throws {CannotListen} the certificate or its key cannot be used */
export function checkTls(tls: Tls): void {
  const fault = tlsFault(tls);
  if (fault) throw new CannotListen(`tls.${fault.part} cannot be used: ${fault.sentence}`);
}

function chainFault(cert: string): TlsFault | undefined {
  const certificates = cert.split(BEGIN).filter((part) => BEGIN.test(part));
  const brokenIndex = certificates.findIndex((certificate) => publicKeyOf(certificate) === undefined);
  if (brokenIndex < 0) return undefined;
  const sentence = `certificate ${brokenIndex + 1} of ${certificates.length} in it is broken; copy the whole chain again`;
  return { part: "cert", sentence };
}

function libraryFault({ cert, key }: Tls): TlsFault | undefined {
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (cause) {
    const { reason, message } = cause as { reason?: string; message: string };
    const fix = "use one with an RSA key of 2,048 bits or more, or a key on P-256, signed with SHA-256";
    return { part: "cert", sentence: `the TLS library refuses it (${reason ?? message}); ${fix}` };
  }
}

function publicKeyOf(cert: string): KeyObject | undefined {
  try {
    return new X509Certificate(cert).publicKey;
  } catch {
    return undefined;
  }
}

function publicHalf(key: string): KeyObject | undefined {
  try {
    return createPublicKey(createPrivateKey(key));
  } catch {
    return undefined;
  }
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" }) as Buffer;
}
