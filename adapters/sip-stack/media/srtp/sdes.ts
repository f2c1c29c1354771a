import { Buffer } from "node:buffer";
import type { SrtpKeys, SrtpSuite } from "../engine.ts";
import { SUITES } from "./session-keys.ts";

/** The contents of an `a=crypto` line (RFC 4568 section 9.1). */
export interface CryptoAttribute {
  /** Tag of the line; an answer names the accepted line by its tag. */
  readonly tag: number;
  readonly keys: SrtpKeys;
}

/** Maximum length of a line, in characters: room for a few keys. */
const MAX_LENGTH = 1000;
const TAG = /^\d{1,9}$/;
const INLINE = /^inline:([A-Za-z0-9+/]+={0,2})(?:\|([^|]*))?(?:\|([^|]*))?$/i;
const MKI = /^(\d{1,40}):(\d{1,3})$/;
/** Session parameters that our receiver can ignore; any other makes the line unusable (section 6.3). */
const HARMLESS_PARAMETER = /^(?:-.*|WSH=\d+)$/i;

/**
 * Parses the value of an `a=crypto` line, the first of its keys if there are several; a lifetime is ignored. Undefined
 * if we do not support the suite or a session parameter, or if the key has the wrong length.
 */
export function parseCrypto(value: string): CryptoAttribute | undefined {
  if (value.length > MAX_LENGTH) return undefined;
  const [tag = "", name = "", parameters = "", ...session] = value.trim().split(/[ \t]+/);
  const suite = name.toUpperCase();
  if (!TAG.test(tag) || !isSuite(suite) || !session.every((parameter) => HARMLESS_PARAMETER.test(parameter)))
    return undefined;
  const [, text = "", ...fields] = INLINE.exec(parameters.split(";", 1)[0] ?? "") ?? [];
  const { key, salt } = SUITES[suite];
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  if (bytes.length !== key + salt) return undefined;
  const keys = { suite, key: bytes.subarray(0, key), salt: bytes.subarray(key) };
  const mkiText = fields.find((part) => part?.includes(":"));
  if (mkiText === undefined) return { tag: Number(tag), keys };
  const mki = parseMki(mkiText);
  return mki && { tag: Number(tag), keys: { ...keys, mki } };
}

/** The value of an `a=crypto` line. */
export function writeCrypto({ tag, keys }: CryptoAttribute): string {
  const inline = Buffer.concat([keys.key, keys.salt]).toString("base64");
  return `${tag} ${keys.suite} inline:${inline}${writeMki(keys.mki)}`;
}

/** Generates our keys. @param random fills an array with random bytes */
export function newSrtpKeys(suite: SrtpSuite, random: (bytes: Uint8Array) => void): SrtpKeys {
  const key = new Uint8Array(SUITES[suite].key);
  const salt = new Uint8Array(SUITES[suite].salt);
  random(key);
  random(salt);
  return { suite, key, salt };
}

function isSuite(name: string): name is SrtpSuite {
  return Object.hasOwn(SUITES, name);
}

/** Parses `value:length`, with a decimal value, into this many bytes. */
function parseMki(text: string): Uint8Array | undefined {
  const [, value = "", length = ""] = MKI.exec(text) ?? [];
  const bytes = new Uint8Array(Math.min(Number(length), 128));
  if (bytes.length === 0 || bytes.length !== Number(length)) return undefined;
  let remainder = BigInt(value);
  for (let i = bytes.length - 1; i >= 0; i--, remainder >>= 8n) bytes[i] = Number(remainder & 0xffn);
  return remainder === 0n ? bytes : undefined;
}

function writeMki(mki: Uint8Array | undefined): string {
  if (mki === undefined) return "";
  let value = 0n;
  for (const byte of mki) value = (value << 8n) | BigInt(byte);
  return `|${value}:${mki.length}`;
}
