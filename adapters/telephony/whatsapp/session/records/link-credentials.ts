import { toHex } from "../../../../../src/base/hex.ts";

/** The name of a session in the client's own store. */
export type SessionId = string;

/** A new name, which no earlier link of any number has used. */
export function newSessionId(random: (bytes: Uint8Array) => void): SessionId {
  const bytes = new Uint8Array(16);
  random(bytes);
  return toHex(bytes);
}

/** The credentials of a link: they name the session; its keys are in the records. */
export function encodeCredentials(sessionId: SessionId): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ kind: "whatsapp", version: 1, sessionId }));
}

/**
 * The session that credentials name; undefined for those of another network.
 * @throws {RangeError} they were written by another version of the server, and are still valid
 */
export function decodeCredentials(credentials: Uint8Array): SessionId | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(credentials));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, version, sessionId } = value as Record<string, unknown>;
  if (kind !== "whatsapp") return undefined;
  if (typeof version === "number" && version !== 1)
    throw new RangeError(
      `the link of this number is stored in format ${version}, and this server reads format 1: run the server version that wrote it`,
    );
  if (version !== 1) return undefined;
  return typeof sessionId === "string" && /^[0-9a-f]{32}$/.test(sessionId) ? sessionId : undefined;
}
