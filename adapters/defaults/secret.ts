import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../../src/base/error.ts";
import { createFile } from "./create-file.ts";

const FILE = "secret.key";
const HEX = /^[0-9a-f]{64}$/i;

const SECRET = {
  name: "the secret (RINGPORT_SECRET)",
  fix: "create one with `openssl rand -hex 32`, or leave it out to have one created in the data folder",
};

/**
 * Parses the hex digits of a 32-byte secret.
 * @throws {ConfigurationError} the text is not 64 hex digits; the message does not quote it
 */
export function parseSecret(hex: string, { name, fix }: typeof SECRET = SECRET): Uint8Array {
  const text = hex.trim();
  if (HEX.test(text)) return new Uint8Array(Buffer.from(text, "hex"));
  const lengthText = `${text.length} character${text.length === 1 ? "" : "s"}`;
  throw new ConfigurationError(`${name} must be 64 hex digits, but is other text (${lengthText}): ${fix}`);
}

/**
 * A data folder's secret; undefined if none has been created yet.
 * @throws {ConfigurationError} the file exists but cannot be read, or holds no secret
 */
export async function secretOf(folder: string): Promise<Uint8Array | undefined> {
  const path = join(folder, FILE);
  const text = await readSecretFile(path);
  if (text === undefined) return undefined;
  if (HEX.test(text.trim())) return parseSecret(text);
  throw new ConfigurationError(
    `the key file ${path} does not hold 64 hex digits: restore it from a backup, or delete it and link the numbers again`,
  );
}

/**
 * A data folder's secret, created on the first start. Its file is either complete or absent, even after a power
 * failure; two processes that create it at the same time both use the first one.
 * @throws {ConfigurationError} the file exists but holds no secret
 */
export async function storedSecret(folder: string): Promise<Uint8Array> {
  return (await secretOf(folder)) ?? parseSecret(await createSecret(join(folder, FILE)));
}

async function createSecret(path: string): Promise<string> {
  const text = `${randomBytes(32).toString("hex")}\n`;
  try {
    await createFile(path, async () => text);
    return text;
  } catch (error) {
    const existingSecret = await readSecretFile(path);
    if (existingSecret === undefined) throw error;
    return existingSecret;
  }
}

async function readSecretFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined; // `dataFolder` reports faults of the folder
    const reason = UNREADABLE.get(code ?? "") ?? message;
    throw new ConfigurationError(`the key file ${path} cannot be read: ${reason}`, { cause });
  }
}

const UNREADABLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EACCES: "this user may not read it; run as its owner, or choose another folder with RINGPORT_DATA",
    EPERM: "this user may not read it; run as its owner, or choose another folder with RINGPORT_DATA",
    EISDIR: "it is a folder; remove that, and restore the file from a backup if there was one",
  }),
);
