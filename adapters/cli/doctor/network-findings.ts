import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RingportOptions } from "../../../src/options.ts";
import { networkNames } from "../../defaults/all-networks.ts";
import { sipTrunks } from "../../defaults/sip-trunks.ts";
import { broken, type Finding, missing, reasonOf, works } from "./finding.ts";

const TELEPHONY = "telephony";

/** Lists the networks that would carry calls. */
export async function findNetworks(options: RingportOptions): Promise<Finding[]> {
  try {
    const names = networkNames(options);
    if (!names.includes("sip"))
      return [missing(TELEPHONY, "simulated phones only", "RINGPORT_SIP_TRUNKS makes real ones ring")];
    const { trunks, accounts } = options.embedded?.sip ?? {};
    const sip = await sipTrunks({ trunks });
    const sipNames = [...sip.routes, ...sip.trunks].map(({ name }) => `sip/${name}`);
    const networks = [...sipNames, ...(accounts ? ["sip (accounts)"] : []), ...names.filter((name) => name !== "sip")];
    return [
      works(TELEPHONY, `${networks.join(", ")}${sipNames.length > 0 ? "; ringport sip check tries the trunks" : ""}`),
    ];
  } catch (error) {
    return [broken(TELEPHONY, reasonOf(error), "correct RINGPORT_SIP_TRUNKS or RINGPORT_TELEPHONY")];
  }
}

/** A package that the client for linked WhatsApp numbers needs. */
interface WhatsAppPackage {
  readonly name: string;
  /** The oldest version that the adapter has been tested with. */
  readonly minVersion: string;
  readonly purpose: string;
  /** True for a native module, which may be installed but fail to load on this platform. */
  readonly isNative: boolean;
}

/** The packages of docs/whatsapp.md, "Install". */
export const WHATSAPP_PACKAGES: readonly WhatsAppPackage[] = [
  { name: "zapo-js", minVersion: "1.8.0", purpose: "linked devices", isNative: false },
  { name: "@zapo-js/voip", minVersion: "1.0.0", purpose: "calls", isNative: false },
  { name: "libmlow-wasm", minVersion: "0.1.1", purpose: "the voice codec", isNative: false },
  { name: "@roamhq/wrtc", minVersion: "0.10.0", purpose: "the connection to the relays", isNative: true },
];

const WHATSAPP = "whatsapp";
const PAGE = 'docs/whatsapp.md, "Install"';
const UNKNOWN_VERSION = "0.0.0-unknown";

/**
 * One finding for each package that the client for linked WhatsApp numbers would import in this folder; a single
 * finding if the client is not installed. Calls over other networks need none of these packages.
 */
export function findWhatsApp(folder: string): Finding[] {
  const versions = new Map(WHATSAPP_PACKAGES.map(({ name }) => [name, installedVersion(name, folder)]));
  if (versions.get("zapo-js") === undefined && versions.get("@zapo-js/voip") === undefined)
    return [missing(WHATSAPP, "the client for linked numbers is not installed", PAGE)];
  return WHATSAPP_PACKAGES.map((entry) => ({
    ...findPackage(entry, versions.get(entry.name), folder),
    essential: false, // other calls can be placed
  }));
}

function findPackage(
  { name, minVersion, purpose, isNative }: WhatsAppPackage,
  version: string | undefined,
  folder: string,
): Finding {
  const fix = `install ${minVersion} or newer: ${PAGE}`;
  if (version === undefined) return broken(WHATSAPP, `${name} (${purpose}) is not installed`, fix);
  const label = `${name} ${version === UNKNOWN_VERSION ? "of an unknown version" : version}`;
  if (isOlder(version, minVersion)) return broken(WHATSAPP, `${label} is too old`, fix);
  const fault = isNative ? loadingFault(name, folder) : undefined;
  if (fault === undefined) return works(WHATSAPP, `${label} (${purpose})`);
  return broken(WHATSAPP, `${label} cannot be loaded: ${fault}`, `use a platform it has binaries for: ${PAGE}`);
}

/**
 * Version of the package that an import in this folder would resolve to. Reads the file, because `exports` may hide
 * package.json.
 */
function installedVersion(name: string, folder: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
  } catch {
    const parent = dirname(folder);
    return parent === folder ? undefined : installedVersion(name, parent);
  }
  try {
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === "string" ? version : UNKNOWN_VERSION;
  } catch {
    return UNKNOWN_VERSION;
  }
}

/** True if a version is older than another one; a pre-release is older than its release. */
function isOlder(version: string, minVersion: string): boolean {
  const numbers = (text: string): number[] => text.split(/[-+]/, 1)[0]!.split(".").map(Number);
  const [actual, minimum] = [numbers(version), numbers(minVersion)];
  for (const [i, number] of minimum.entries()) if (actual[i] !== number) return !((actual[i] ?? 0) > number);
  return version.includes("-");
}

function loadingFault(name: string, folder: string): string | undefined {
  try {
    createRequire(join(folder, "package.json"))(name);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
