import { join } from "node:path";
import type { NetworkName, RingportOptions } from "../../src/options.ts";
import type { Network } from "../../src/ports/pages.ts";
import type { Speech } from "../../src/ports/speech.ts";
import { sayThrough } from "./far-end-voice.ts";
import { sipTrunks } from "./sip-trunks.ts";

/** The simulator's folder for what its far ends received, in the data folder. */
export const SPOOL_FOLDER = "recordings";

/** Makes networks, once there is a voice for the simulated far ends. */
export type MakeNetworks = (data: string, speech: Speech) => Promise<readonly Network[]>;

/** The networks that come with Ringport. Each row checks the options and returns what makes the networks from them. */
const NETWORKS: Readonly<Record<NetworkName, (options: RingportOptions) => Promise<MakeNetworks>>> = {
  simulator: prepareSimulator,
  sip: prepareSip,
};

/**
 * Checks the networks that the options name; makes none yet.
 * @throws {Error} what is wrong with the SIP trunks, in one line
 */
export async function chosenNetworks(options: RingportOptions): Promise<MakeNetworks> {
  const makers: MakeNetworks[] = [];
  for (const name of networkNames(options)) makers.push(await NETWORKS[name](options));
  return async (data, speech) => {
    const made: Network[] = [];
    for (const make of makers) made.push(...(await make(data, speech)));
    return made;
  };
}

/**
 * The names of the mounted networks, the default one first. If SIP is configured, it is the only one unless the options
 * list more: an instance that was meant to make a phone ring must not end on a simulated network.
 * @throws {Error} SIP is named but not configured, or configured but not named
 */
export function networkNames({ embedded: { networks, sip } = {} }: RingportOptions): readonly NetworkName[] {
  const configured = sip?.trunks !== undefined || isOn(sip?.accounts);
  if (networks === undefined) return configured ? ["sip"] : ["simulator"];
  if (networks.includes("sip") && !configured)
    throw new Error(
      "RINGPORT_TELEPHONY names sip, but no trunk is configured: set RINGPORT_SIP_TRUNKS or RINGPORT_SIP_ACCOUNTS",
    );
  if (configured && !networks.includes("sip"))
    throw new Error(
      "SIP is configured but not mounted: add sip to RINGPORT_TELEPHONY, or remove the RINGPORT_SIP_… settings",
    );
  return networks;
}

function isOn(accounts: boolean | object | undefined): boolean {
  return accounts !== undefined && accounts !== false;
}

async function prepareSip(options: RingportOptions): Promise<MakeNetworks> {
  const { accounts, accountDestinations: defaults, ...settings } = options.embedded?.sip ?? {};
  const ways = await sipTrunks(settings);
  const entered = isOn(accounts) && { ...(accounts === true ? {} : accounts), defaults };
  return async () => {
    const { sip } = await import("../telephony/sip/index.ts");
    return sip({ ...ways, accounts: entered, system: options.system, logger: options.log });
  };
}

async function prepareSimulator(options: RingportOptions): Promise<MakeNetworks> {
  return async (data, speech) => {
    const { simulator } = await import("../telephony/simulator/index.ts");
    const network = simulator({
      spoolDir: join(data, SPOOL_FOLDER),
      timeScale: options.embedded?.simulatorTimeScale,
      sampleRate: options.embedded?.simulatorSampleRate,
      system: options.system,
      logger: options.log,
      say: sayThrough(speech),
    });
    return [network];
  };
}
