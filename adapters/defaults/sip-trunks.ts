import { ConfigurationError } from "../../src/base/error.ts";
import type { SipTuning } from "../../src/options.ts";
import type { Route } from "../telephony/sip/config/route-config.ts";
import type { Trunk } from "../telephony/sip/config/trunk-config.ts";
import { jsonOrFile } from "./json-or-file.ts";

const NAME = "the SIP trunks (RINGPORT_SIP_TRUNKS)";
const JSON_SETTING = {
  name: NAME,
  shortExample: '[{"name":…}]',
  example: '[{"name":"acme","server":"sip:sip.acme.example"}]',
};

/** Trunks, and the routes that use them. */
export interface SipTrunkConfig {
  readonly trunks: readonly Trunk[];
  readonly routes: readonly Route[];
}

/**
 * Reads the trunks and their routes from the options: an array, JSON text, or the path of a JSON file.
 * @throws {ConfigurationError} the one-line message names all faults of all trunks and routes, and contains no secret
 */
export async function sipTrunks({ trunks: source = [], routes: extraRoutes }: SipTuning): Promise<SipTrunkConfig> {
  const { faultText, parseTrunks } = await import("../telephony/sip/config/parse-trunks.ts");
  const config = typeof source === "string" ? await jsonOrFile(source, JSON_SETTING) : source;
  const { trunks, routes, faults } = parseTrunks(extraRoutes === undefined ? config : withRoutes(config, extraRoutes));
  if (trunks) return { trunks, routes };
  throw new ConfigurationError(`${NAME} cannot be used: ${faults.map(faultText).join("; ")}`);
}

/** Replaces the routes in the trunk configuration with those in the options. */
function withRoutes(config: unknown, routes: unknown): unknown {
  return Array.isArray(config) ? { trunks: config, routes } : { ...(config as object), routes };
}
