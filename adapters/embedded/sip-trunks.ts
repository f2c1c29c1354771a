import { ConfigurationError } from "../../src/base/error.ts";
import type { SipTuning } from "../../src/options.ts";
import type { Route } from "../telephony/sip/config/route.ts";
import type { Trunk } from "../telephony/sip/config/trunk.ts";
import { jsonOrFile } from "./json-or-file.ts";

const NAME = "the SIP trunks (RINGPORT_SIP_TRUNKS)";
const JSON_SETTING = {
  name: NAME,
  short: '[{"name":…}]',
  example: '[{"name":"acme","server":"sip:sip.acme.example"}]',
};

/** Trunks, and routes over them. */
export interface SipWays {
  readonly trunks: readonly Trunk[];
  readonly routes: readonly Route[];
}

/**
 * The trunks in the options and their routes: as an array, as JSON text, or as the path of a JSON file.
 * @throws {ConfigurationError} one line that names every fault of every trunk and route, and never a secret
 */
export async function sipTrunks({ trunks: source = [], routes: more }: SipTuning): Promise<SipWays> {
  const { faultText, parseTrunks } = await import("../telephony/sip/config/parse-trunks.ts");
  const read = typeof source === "string" ? await jsonOrFile(source, JSON_SETTING) : source;
  const { trunks, routes, faults } = parseTrunks(more === undefined ? read : withRoutes(read, more));
  if (trunks) return { trunks, routes };
  throw new ConfigurationError(`${NAME} cannot be used: ${faults.map(faultText).join("; ")}`);
}

/** Routes of the options replace the trunks' own. */
function withRoutes(read: unknown, routes: unknown): unknown {
  return Array.isArray(read) ? { trunks: read, routes } : { ...(read as object), routes };
}
