import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { CannotListen, type Tls } from "./listening.ts";

/** Why a certificate or its key cannot be used. */
export interface TlsFault {
  readonly part: keyof Tls;
  readonly sentence: string;
}

const ENCRYPTED = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** What is wrong with a certificate and its key. Runtimes report it in texts of their TLS libraries, or not at all. */
export function tlsFault({ cert, key }: Tls): TlsFault | undefined {
  const certified = publicKeyOf(cert);
  if (!certified)
    return { part: "cert", sentence: "there is no certificate in it; it must have -----BEGIN CERTIFICATE-----" };
  if (ENCRYPTED.test(key))
    return { part: "key", sentence: "the key is encrypted; decrypt it with: openssl pkey -in KEY -out PLAIN_KEY" };
  const own = publicHalf(key);
  if (!own) return { part: "key", sentence: "there is no private key in it; it must have -----BEGIN PRIVATE KEY-----" };
  if (!spki(own).equals(spki(certified)))
    return {
      part: "key",
      sentence: "the key belongs to another certificate; use the one that the certificate was made with",
    };
  return undefined;
}

/** @throws {CannotListen} the certificate or its key cannot be used */
export function checkTls(tls: Tls): void {
  const fault = tlsFault(tls);
  if (fault) throw new CannotListen(`tls.${fault.part} cannot be used: ${fault.sentence}`);
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
