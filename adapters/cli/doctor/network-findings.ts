import type { RingportOptions } from "../../../src/options.ts";
import { networkNames } from "../../embedded/networks.ts";
import { sipTrunks } from "../../embedded/sip-trunks.ts";
import { broken, type Finding, missing, reasonOf, works } from "./finding.ts";

const NAME = "telephony";

/** What would carry calls. */
export async function findNetworks(options: RingportOptions): Promise<Finding[]> {
  try {
    const names = networkNames(options);
    if (!names.includes("sip"))
      return [missing(NAME, "simulated phones only", "RINGPORT_SIP_TRUNKS makes real ones ring")];
    const { trunks, accounts } = options.embedded?.sip ?? {};
    const ways = await sipTrunks({ trunks });
    const named = [...ways.routes, ...ways.trunks].map(({ name }) => `sip/${name}`);
    const all = [...named, ...(accounts ? ["sip (accounts)"] : []), ...names.filter((name) => name !== "sip")];
    return [works(NAME, `${all.join(", ")}${named.length > 0 ? "; ringport sip check tries the trunks" : ""}`)];
  } catch (error) {
    return [broken(NAME, reasonOf(error), "correct RINGPORT_SIP_TRUNKS or RINGPORT_TELEPHONY")];
  }
}
