import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));

/** Contents of a certificate. */
export interface CertificateOptions {
  /** DNS names and IP addresses of the certificate. */
  readonly names?: readonly string[];
  /** Start and end of its validity, days from now. Default: yesterday to tomorrow. */
  readonly days?: readonly [from: number, until: number];
  /** Bits of an RSA key. Default: a key on P-256. */
  readonly rsaBits?: number;
}

/** PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A CA for tests. */
export interface Authority {
  /** Certificate of the CA, PEM. */
  readonly ca: string;
  issue(options?: CertificateOptions): Certificate;
}

/**
 * Creates a CA that signs certificates (X.509, ECDSA on P-256): node:crypto has keys and signatures but no
 * certificates. They are created in each run, so that none expires unintentionally.
 */
export function certificateAuthority(name = "Test Authority"): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const basicConstraints = extension([2, 5, 29, 19], sequence(boolean(true)));
  const keyUsage = extension([2, 5, 29, 15], tlv(0x03, Buffer.from([1, 0b0000_0110]))); // keyCertSign, cRLSign
  const selfSigned = { subject: name, issuer: name, publicKey: keys.publicKey, signedBy: keys.privateKey };
  return {
    ca: certificate({ ...selfSigned, days: [-1, 1], extensions: [basicConstraints, keyUsage] }),
    issue({ names = ["localhost"], days = [-1, 1], rsaBits }: CertificateOptions = {}) {
      const { publicKey, privateKey } = rsaBits
        ? generateKeyPairSync("rsa", { modulusLength: rsaBits })
        : generateKeyPairSync("ec", { namedCurve: "P-256" });
      const extensions = [extension([2, 5, 29, 17], sequence(...names.map(generalName)))];
      return {
        cert: certificate({
          subject: names[0] ?? "",
          issuer: name,
          publicKey,
          signedBy: keys.privateKey,
          days,
          extensions,
        }),
        key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      };
    },
  };
}

/** RFC 5280 section 4.1. */
function certificate(parts: {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signedBy: KeyObject;
  readonly days: readonly [number, number];
  readonly extensions: readonly Buffer[];
}): string {
  const [from, to] = parts.days.map((days) => time(new Date(Date.now() + days * DAY_MS))) as [Buffer, Buffer];
  const content = sequence(
    tlv(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(parts.issuer),
    sequence(from, to),
    distinguishedName(parts.subject),
    parts.publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(...parts.extensions)),
  );
  const signature = sign("sha256", content, parts.signedBy);
  const der = sequence(content, ECDSA_WITH_SHA256, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(oid([2, 5, 4, 3]), tlv(0x0c, Buffer.from(commonName)))));
}

function generalName(name: string): Buffer {
  if (isIP(name) === 0) return tlv(0x82, Buffer.from(name));
  return tlv(0x87, isIP(name) === 4 ? Buffer.from(name.split(".").map(Number)) : ipv6Loopback(name));
}

function ipv6Loopback(name: string): Buffer {
  if (name !== "::1")
    throw new RangeError(`"${name}" is not supported: ::1 is the only IPv6 address of a test certificate`);
  return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
}

function extension(id: readonly number[], value: Buffer): Buffer {
  const critical = id.at(-1) === 17 ? [] : [boolean(true)];
  return sequence(oid(id), ...critical, tlv(0x04, value));
}

function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "");
  return tlv(0x17, Buffer.from(digits.slice(2)));
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function boolean(value: boolean): Buffer {
  return tlv(0x01, Buffer.from([value ? 0xff : 0]));
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let remaining = part >> 7; remaining > 0; remaining >>= 7) groups.unshift((remaining & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** Tag, length, value. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
