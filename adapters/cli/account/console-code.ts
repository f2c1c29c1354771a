import type { CodeMakers } from "../../../src/application/accounts/one-time-codes.ts";
import { idSource } from "../../../src/base/ids.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { ServerSettings } from "../read-settings.ts";
import type { Setting } from "../setting.ts";
import { STORAGE_SETTINGS, settingsOf } from "../settings.ts";

/** The settings by which a command finds the storage of a server, and the address of its console. */
export const CONSOLE_SETTINGS: readonly Setting[] = [
  ...STORAGE_SETTINGS,
  ...settingsOf("publicUrl", "port", "basePath"),
];

/** An address of the console that has a code: in its fragment, which no server sees. */
export function codeUrl({ options, port = 8080 }: ServerSettings, page: "register" | "reset", code: string): string {
  const base = options.publicUrl?.replace(/\/+$/, "") ?? `http://127.0.0.1:${port}${options.basePath ?? ""}`;
  return `${base}/console/${page}#code=${code}`;
}

/** What makes codes beside a server. */
export function codeMakers({ logins }: Storage): CodeMakers {
  return { logins, system: realSystem, ids: idSource(realSystem.now, realSystem.random), sha256: sha256Hex };
}
