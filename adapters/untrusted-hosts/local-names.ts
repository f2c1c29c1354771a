import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { System } from "../../src/ports/system.ts";
import { type HostAddress, hostAddress } from "./host-address.ts";

/** Time for which the hosts file is used before it is checked again, ms. */
const RECHECK_MS = 5_000;
/** Maximum size of the file, bytes; a larger one is not read. */
const MAX_BYTES = 4_194_304;
/** RFC 6761 section 6.3: such a name is never queried. */
const LOCALHOST = /(?:^|\.)localhost$/;
const LOOPBACK = ["127.0.0.1", "::1"].map(hostAddress);

/** The addresses of a name in the hosts file; undefined if it is missing there. */
export type LocalNames = (name: string) => Promise<readonly HostAddress[] | undefined>;

/** The names in the hosts file, and `localhost` with all names under it. c-ares queries find neither. */
export function localNames(system: System, file = hostsFile()): LocalNames {
  let names: ReadonlyMap<string, readonly HostAddress[]> = new Map();
  let version = "";
  let checkedAt = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    if (system.monotonic() - checkedAt < RECHECK_MS) return;
    checkedAt = system.monotonic();
    try {
      const { mtimeMs, size } = await stat(file);
      if (`${mtimeMs} ${size}` === version) return;
      names = size > MAX_BYTES ? new Map() : parseHosts(await readFile(file, "utf8"));
      version = `${mtimeMs} ${size}`;
    } catch {
      names = new Map(); // the file does not exist, or this program may not read it
    }
  }

  return async (name) => {
    await refresh();
    return names.get(name) ?? (LOCALHOST.test(name) ? LOOPBACK : undefined);
  };
}

/** The names in the text of a hosts file, in lower case. */
export function parseHosts(text: string): ReadonlyMap<string, readonly HostAddress[]> {
  const addressesByName = new Map<string, HostAddress[]>();
  for (const row of text.split("\n")) {
    const [address = "", ...names] = row.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const addresses = addressesByName.get(key);
      if (addresses === undefined) addressesByName.set(key, [hostAddress(address)]);
      else addresses.push(hostAddress(address));
    }
  }
  return addressesByName;
}

/** Path of the hosts file. Reads the environment on Windows only: on Deno, a program may lack the permission. */
function hostsFile(): string {
  if (process.platform !== "win32") return "/etc/hosts";
  return join(process.env.SystemRoot ?? "C:\\Windows", "System32", "drivers", "etc", "hosts");
}
