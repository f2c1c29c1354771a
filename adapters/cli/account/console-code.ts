import type { CodeMakers } from "../../../src/application/accounts/one-time-codes.ts";
import { idSource } from "../../../src/base/ids.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { DEFAULT_HOSTNAME, DEFAULT_PORT, localUrl } from "../../server/listening.ts";
import type { ServerSettings } from "../read-settings.ts";
import type { Setting } from "../setting.ts";
import { STORAGE_SETTINGS, settingsOf } from "../settings.ts";
import { UsageError } from "../usage-error.ts";

/** The settings by which a command finds the storage of a server, and the address of its console. */
export const CONSOLE_SETTINGS: readonly Setting[] = [
  ...STORAGE_SETTINGS,
  ...settingsOf("publicUrl", "hostname", "port", "tls.cert", "tls.key", "basePath", "console"),
];

/**
 * Makes sure that somebody can open an address of the console.
 * @throws {UsageError} the server has no console
 */
export function assertConsole({ console }: ServerSettings): void {
  if (console !== "off") return;
  throw new UsageError('RINGPORT_CONSOLE is "off": no page accepts a code; set it to "on", and restart the server');
}

/** An address of the console that has a code: in its fragment, which no server sees. */
export function codeUrl(settings: ServerSettings, page: "register" | "reset", code: string): string {
  const { options, tls, hostname = DEFAULT_HOSTNAME, port = DEFAULT_PORT } = settings;
  const local = localUrl(hostname, port, tls ? "https" : "http") + (options.basePath ?? "");
  return `${options.publicUrl?.replace(/\/+$/, "") ?? local}/console/${page}#code=${code}`;
}

/** What makes codes beside a server. */
export function codeMakers({ logins }: Storage): CodeMakers {
  return { logins, system: realSystem, ids: idSource(realSystem.now, realSystem.random), sha256: sha256Hex };
}
