import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { FIRST_USER, type IssuedToken } from "../../../src/application/tokens/tokens.ts";
import { CodedError } from "../../../src/base/error.ts";
import type { Tokens } from "../../../src/ringport.ts";
import { createFile } from "../../defaults/create-file.ts";
import { DEFAULT_DATA } from "../../defaults/data-folder.ts";
import type { ServerSettings } from "../settings/read-settings.ts";
import { isOutage } from "../storage-fault.ts";
import { isTerminal } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";

/** State of the first token: issued for a terminal, written into a file, or left to `ringport token create`. */
export type FirstToken =
  | { readonly kind: "issued"; readonly token: string }
  | { readonly kind: "written"; readonly path: string }
  | { readonly kind: "left" };

const FIRST_TOKEN = { userName: FIRST_USER, label: "first start" };

/**
 * Issues the first token: for the configured file, or otherwise only for a terminal, because other outputs end up in
 * logs. If the storage fails at this point, the server still starts.
 * @throws {UsageError} the file cannot be created; the issued token is revoked
 */
export async function firstToken(tokens: Tokens, path: string | undefined): Promise<FirstToken | undefined> {
  try {
    if ((await tokens.list()).length > 0) return undefined;
    if (path !== undefined) return (await writeTo(path, tokens)) ? { kind: "written", path: resolve(path) } : undefined;
    if (!isTerminal()) return { kind: "left" };
    const first = await tokens.first(FIRST_TOKEN);
    return first && { kind: "issued", token: first.token };
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}

/**
 * Checks the file before anything is created, if the data folder shows that no token has been issued yet.
 * @throws {UsageError} the file cannot be created
 */
export async function checkTokenFile({ tokenFile: path, options }: ServerSettings): Promise<void> {
  if (path === undefined || options.databaseUrl !== undefined) return;
  const data = resolve(options.data ?? DEFAULT_DATA);
  if (existsSync(data)) return;
  if (existsSync(path)) throw refusal(path, "EEXIST");
  const folder = dirname(resolve(path));
  if (folder !== data && !existsSync(folder)) throw refusal(path, "ENOENT");
}

/** Thrown if another process has created a token in the meantime. */
class NotFirstStart extends CodedError {
  readonly code = "not_first";
}

/** Resolves with true if the first token has been issued and written to the file. */
async function writeTo(path: string, tokens: Tokens): Promise<boolean> {
  let token: IssuedToken | undefined;
  try {
    await createFile(path, async () => {
      token = await tokens.first(FIRST_TOKEN);
      if (token === undefined) throw new NotFirstStart();
      return `${token.token}\n`;
    });
    return true;
  } catch (error) {
    if (error instanceof NotFirstStart) return false;
    const { code } = error as { code?: string };
    if (token !== undefined) {
      // The token is lost: it can no longer be read.
      const isRevoked = await tokens.revoke(token.id).catch(() => false);
      throw lostTokenError(path, code, isRevoked, error);
    }
    if (isOutage(error) || code === undefined) throw error;
    throw refusal(path, code, error);
  }
}

function lostTokenError(path: string, code: string | undefined, isRevoked: boolean, cause: unknown): UsageError {
  return new UsageError(
    `RINGPORT_TOKEN_FILE is ${JSON.stringify(path)}: the first token could not be written into it (${code ?? "unknown"})${isRevoked ? " and was revoked" : ", nor revoked"}; create another one with: ringport token create --user NAME`,
    { cause },
  );
}

function refusal(path: string, code: string, cause?: unknown): UsageError {
  const reason = REASONS.get(code) ?? `it cannot be written (${code})`;
  return new UsageError(`RINGPORT_TOKEN_FILE is ${JSON.stringify(path)}: ${reason}`, { cause });
}

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EEXIST: "the file exists, but this database has no token yet; remove the file or name another one",
    ENOENT: "its folder does not exist; create it first",
    ENOTDIR: "its folder is a file; name another one",
    EACCES: "this user may not write there; name another file",
    EPERM: "this user may not write there; name another file",
    EROFS: "the file system is read-only; name another file",
  }),
);
