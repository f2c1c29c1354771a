import process from "node:process";
import { type CodeParts, firstCode, resetCode } from "../../src/application/accounts/one-time-codes.ts";
import { FIRST_USER } from "../../src/application/tokens/tokens.ts";
import { idSource } from "../../src/base/ids.ts";
import { sha256Hex } from "../../src/base/sha256.ts";
import type { Storage } from "../../src/ports/storage.ts";
import { realSystem } from "../../src/ports/system.ts";
import { DEFAULT_HOSTNAME, DEFAULT_PORT, localUrl } from "../server/listening.ts";
import type { CommandSpec } from "./command.ts";
import { jsonOption } from "./json-option.ts";
import { STORAGE_SETTINGS, settingsOf } from "./settings/all-settings.ts";
import { readSettings, type ServerSettings } from "./settings/read-settings.ts";
import type { Setting } from "./settings/setting.ts";
import { type ListColumn, printList } from "./terminal/table.ts";
import { print, printJson, printToStderr } from "./terminal/terminal.ts";
import { withStorage } from "./token/storage-work.ts";
import { UsageError } from "./usage-error.ts";

/** The settings by which a command finds a server's storage and the address of its console. */
const CONSOLE_SETTINGS: readonly Setting[] = [
  ...STORAGE_SETTINGS,
  ...settingsOf("publicUrl", "hostname", "port", "tls.cert", "tls.key", "basePath", "console"),
];

/**
 * Checks that users can open console pages.
 * @throws {UsageError} the server has no console
 */
function assertConsole({ console }: ServerSettings): void {
  if (console !== "off") return;
  throw new UsageError(
    'RINGPORT_CONSOLE is "off": there is no page to enter a code on; set it to "on", and restart the server',
  );
}

/** A console URL with a code in its fragment, which is not sent to the server. */
function codeUrl(settings: ServerSettings, page: "register" | "reset", code: string): string {
  const { options, tls, hostname = DEFAULT_HOSTNAME, port = DEFAULT_PORT } = settings;
  const local = localUrl(hostname, port, tls ? "https" : "http") + (options.basePath ?? "");
  return `${options.publicUrl?.replace(/\/+$/, "") ?? local}/console/${page}#code=${code}`;
}

/** Dependencies for creating codes while a server is running. */
function codeDependencies({ logins }: Storage): CodeParts {
  return { logins, system: realSystem, ids: idSource(realSystem.now, realSystem.random), sha256: sha256Hex };
}

/** `ringport account code`: a link at which the administrator registers. */
export const accountCode: CommandSpec = {
  summary: "Prints the one-time address at which the administrator of the console registers.",
  details:
    "It works once, within 24 hours. A new address replaces the previous one. The account takes over the user `admin` of the first token, if there is one.",
  options: [jsonOption("`url` and `expires_at`")],
  settings: CONSOLE_SETTINGS,
  async run(line) {
    const settings = readSettings(CONSOLE_SETTINGS, line, process.env);
    assertConsole(settings);
    const { newCode, user } = await withStorage(settings.options, { mustExist: true }, async (storage) => ({
      newCode: await firstCode(codeDependencies(storage)),
      user: await firstUserSummary(storage),
    }));
    if (!newCode)
      throw new UsageError(
        "this server already has an administrator, who can invite people in the console; for a lost password: ringport account reset EMAIL",
      );
    const url = codeUrl(settings, "register", newCode.code);
    const expiresAt = new Date(newCode.expiresAt).toISOString();
    if (line.values.get("json")) {
      printJson({ url, expires_at: expiresAt });
      return 0;
    }
    print(url);
    printToStderr(`Open it in your browser to create the administrator's account. It works once, until ${expiresAt}.`);
    if (user) printToStderr(`The account takes over the data of the user "${FIRST_USER}": ${user}.`);
    return 0;
  },
};

/** Summary of the user whose data the account takes over; undefined if there is no such user. */
async function firstUserSummary({ accounts, instances }: Storage): Promise<string | undefined> {
  const user = await accounts.userByName(FIRST_USER);
  if (!user) return undefined;
  const tokens = (await accounts.tokens(user.id)).filter(({ revokedAt }) => revokedAt === null);
  const userInstances = await instances.list(user.id, {});
  return `tokens: ${tokens.length}, instances: ${userInstances.length}`;
}

/** `ringport account list`: the accounts of the console. */
export const accountList: CommandSpec = {
  summary: "Lists the accounts of the console, oldest first.",
  options: [jsonOption("the list")],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const accounts = await withStorage(options, { mustExist: true }, ({ logins }) => logins.accounts());
    const views = accounts.map(({ id, email, role, userId, createdAt }) => ({
      id,
      email,
      role,
      user_id: userId,
      created_at: new Date(createdAt).toISOString(),
    }));
    printList(line, views, {
      none: "There are no accounts: ringport account code prints the address for the first one.",
      columns: COLUMNS,
      cells: (view) => [view.id, view.email, view.role, view.user_id, view.created_at.slice(0, 19)],
    });
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID", dropOrder: 2 },
  { head: "EMAIL", cut: true },
  { head: "ROLE" },
  { head: "USER", dropOrder: 1 },
  { head: "CREATED", dropOrder: 3 },
];

/** `ringport account reset`: a link for setting a new password. */
export const accountReset: CommandSpec = {
  summary: "Prints a one-time address at which a person sets a new password.",
  details:
    "It works once, within 24 hours, and ends the sessions of the account. A new address replaces the previous one.",
  operands: [{ name: "EMAIL" }],
  options: [jsonOption("`email`, `url` and `expires_at`")],
  settings: CONSOLE_SETTINGS,
  async run(line) {
    const [email = ""] = line.operands;
    const settings = readSettings(CONSOLE_SETTINGS, line, process.env);
    assertConsole(settings);
    const code = await withStorage(settings.options, { mustExist: true }, (storage) =>
      resetCode(codeDependencies(storage), email),
    );
    if (!code)
      throw new UsageError(
        `there is no account with the address ${JSON.stringify(email.slice(0, 60))}; see: ringport account list`,
      );
    const url = codeUrl(settings, "reset", code.code);
    const expiresAt = new Date(code.expiresAt).toISOString();
    if (line.values.get("json")) {
      printJson({ email: code.account.email, url, expires_at: expiresAt });
      return 0;
    }
    print(url);
    printToStderr(`Send it to ${code.account.email} privately: it works once, until ${expiresAt}.`);
    return 0;
  },
};
