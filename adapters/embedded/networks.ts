import { join } from "node:path";
import type { NetworkName, RingportOptions } from "../../src/options.ts";
import type { Speech } from "../../src/ports/speech.ts";
import type { Telephony } from "../../src/ports/telephony.ts";
import { sayThrough } from "./far-end-voice.ts";
import { type SipWays, sipTrunks } from "./sip-trunks.ts";

/** Where the simulator keeps what its far ends heard, in the data folder. */
export const SPOOL_FOLDER = "recordings";

/** Makes the networks that the options name, once there is a voice for the simulated far ends. */
export type MakeNetworks = (data: string, speech: Speech) => Promise<Telephony[]>;

/**
 * Looks which networks the options name, and whether they can be made; makes none yet.
 * @throws {Error} what is wrong with the SIP trunks, in one line
 */
export async function chosenNetworks(options: RingportOptions): Promise<MakeNetworks> {
  const { sip } = options.embedded ?? {};
  const names = networkNames(options);
  const ways = names.includes("sip") ? await sipTrunks(sip ?? {}) : { trunks: [], routes: [] };
  return async (data, speech) => {
    const made: Telephony[] = [];
    for (const name of names)
      made.push(...(name === "sip" ? await sipNetworks(options, ways) : [await simulated(options, data, speech)]));
    return made;
  };
}

/**
 * Which networks are mounted, the default one first. Where SIP is configured it is the only one unless the options say
 * otherwise: an instance that was meant to make a phone ring must not end on a network that only pretends.
 * @throws {Error} SIP is named but not configured, or configured but not named
 */
export function networkNames({ embedded: { networks, sip } = {} }: RingportOptions): readonly NetworkName[] {
  const configured = sip?.trunks !== undefined || isOn(sip?.accounts);
  if (networks === undefined) return configured ? ["sip"] : ["simulator"];
  if (networks.includes("sip") && !configured)
    throw new Error(
      "RINGPORT_TELEPHONY names sip, but no trunk is there: set RINGPORT_SIP_TRUNKS or RINGPORT_SIP_ACCOUNTS",
    );
  if (configured && !networks.includes("sip"))
    throw new Error("SIP is configured but not mounted: add sip to RINGPORT_TELEPHONY, or take RINGPORT_SIP_… away");
  return networks;
}

function isOn(accounts: boolean | object | undefined): boolean {
  return accounts !== undefined && accounts !== false;
}

async function sipNetworks(options: RingportOptions, ways: SipWays): Promise<readonly Telephony[]> {
  const { sip } = await import("../telephony/sip/index.ts");
  const { accounts, accountDestinations: defaults } = options.embedded?.sip ?? {};
  const entered = isOn(accounts) && { ...(accounts === true ? {} : accounts), defaults };
  return sip({ ...ways, accounts: entered, system: options.system, logger: options.log });
}

async function simulated(options: RingportOptions, data: string, speech: Speech): Promise<Telephony> {
  const { simulator } = await import("../telephony/simulator/index.ts");
  return simulator({
    spoolDir: join(data, SPOOL_FOLDER),
    timeScale: options.embedded?.simulatorTimeScale,
    sampleRate: options.embedded?.simulatorSampleRate,
    system: options.system,
    logger: options.log,
    say: sayThrough(speech),
  });
}
