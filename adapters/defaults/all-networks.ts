import { existsSync } from "node:fs";
import { join } from "node:path";
import { concatPcm } from "../../src/audio/samples/pcm.ts";
import { resample } from "../../src/audio/samples/resample.ts";
import { ConfigurationError } from "../../src/base/error.ts";
import type { NetworkName, RingportOptions } from "../../src/options.ts";
import type { Network } from "../../src/ports/network-pages.ts";
import type { Speech, Voice } from "../../src/ports/speech.ts";
import type { Telephony } from "../../src/ports/telephony.ts";
import { SPOOL_FOLDER } from "./data-folder.ts";
import { sipTrunks } from "./sip-trunks.ts";

/** Creates networks once the simulated callees have a voice. */
type MakeNetworks = (data: string, speech: Speech) => Promise<readonly Network[]>;

interface EmbeddedNetwork {
  /** Checks the options, and returns a function that creates the networks. */
  prepare(options: RingportOptions): Promise<MakeNetworks>;
  /**
   * The network that deletes its own call data from the data folder while a server may be running; undefined if there
   * is no data.
   */
  ofCallData?(data: string): Promise<Telephony | undefined>;
}

/** The networks included in Ringport. */
const NETWORKS: Readonly<Record<NetworkName, EmbeddedNetwork>> = {
  simulator: { prepare: prepareSimulator, ofCallData: simulatorOfSpool },
  sip: { prepare: prepareSip },
};

/**
 * Checks the networks named in the options, without creating any.
 * @throws {ConfigurationError} the faults of the SIP trunks, on one line
 */
export async function chosenNetworks(options: RingportOptions): Promise<MakeNetworks> {
  const makers: MakeNetworks[] = [];
  for (const name of networkNames(options)) makers.push(await NETWORKS[name].prepare(options));
  return async (data, speech) => {
    const networks: Network[] = [];
    for (const make of makers) networks.push(...(await make(data, speech)));
    return networks;
  };
}

/** The networks that keep call data in the data folder, by name. */
export async function networksWithCallData(data: string): Promise<ReadonlyMap<string, Telephony>> {
  const networks = new Map<string, Telephony>();
  for (const { ofCallData } of Object.values(NETWORKS)) {
    const network = await ofCallData?.(data);
    if (network !== undefined) networks.set(network.name, network);
  }
  return networks;
}

/**
 * The names of the mounted networks, the default first. If SIP is configured, it is the only one unless the options
 * list more: an instance that is meant to make real phones ring must not end up on a simulated network.
 * @throws {ConfigurationError} SIP is named but not configured, or configured but not named
 */
export function networkNames({ embedded: { networks, sip } = {} }: RingportOptions): readonly NetworkName[] {
  const isSipConfigured = sip?.trunks !== undefined || isOn(sip?.accounts);
  if (networks === undefined) return isSipConfigured ? ["sip"] : ["simulator"];
  if (networks.includes("sip") && !isSipConfigured)
    throw new ConfigurationError(
      "RINGPORT_TELEPHONY names sip, but no trunk is configured: set RINGPORT_SIP_TRUNKS or RINGPORT_SIP_ACCOUNTS",
    );
  if (isSipConfigured && !networks.includes("sip"))
    throw new ConfigurationError(
      "SIP is configured but not mounted: add sip to RINGPORT_TELEPHONY, or remove the RINGPORT_SIP_… settings",
    );
  return networks;
}

function isOn(accounts: boolean | object | undefined): boolean {
  return accounts !== undefined && accounts !== false;
}

async function prepareSip(options: RingportOptions): Promise<MakeNetworks> {
  const {
    accounts,
    accountsAllowPrivate: allowPrivate,
    accountDestinations: defaults,
    mediaThreads,
    ...settings
  } = options.embedded?.sip ?? {};
  const trunkConfig = await sipTrunks(settings);
  const accountOptions = isOn(accounts) && { ...(accounts === true ? {} : accounts), allowPrivate, defaults };
  return async () => {
    const { sip } = await import("../telephony/sip/index.ts");
    return sip({ ...trunkConfig, accounts: accountOptions, mediaThreads, system: options.system, logger: options.log });
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
      say: speakWith(speech, options.embedded?.simulatorVoiceId),
    });
    return [network];
  };
}

async function simulatorOfSpool(data: string): Promise<Telephony | undefined> {
  const spoolDir = join(data, SPOOL_FOLDER);
  if (!existsSync(spoolDir)) return undefined;
  const { simulator } = await import("../telephony/simulator/index.ts");
  return simulator({ spoolDir });
}

/** The preferred voices for simulated callees, best first. */
const VOICES = ["en-US-1", "en-GB-1"];

/** Returns a function that speaks a simulated callee's text with an installed voice, in the voice's language. */
function speakWith(speech: Speech, voiceId: string | undefined): (text: string, rate: number) => Promise<Int16Array> {
  return async (text, sampleRate) => {
    const { calleeText } = await import("../telephony/simulator/callee-texts.ts");
    const { id, language } = await calleeVoice(speech, voiceId);
    const pieces: Int16Array[] = [];
    let rate = sampleRate;
    for await (const chunk of speech.speak(calleeText(text, language), id, new AbortController().signal)) {
      rate = chunk.sampleRate;
      pieces.push(chunk.samples);
    }
    return resample(concatPcm(pieces), rate, sampleRate);
  };
}

/**
 * The chosen voice, or else the best English one, or else the first one. @throws {VoiceUnavailable} no voice is
 * installed
 */
async function calleeVoice(speech: Speech, voiceId: string | undefined): Promise<Voice> {
  const voices = voiceId === undefined ? await speech.voices() : [];
  const preferredVoices = VOICES.flatMap((id) => voices.find((voice) => voice.id === id) ?? []);
  const [bestVoice] = [...preferredVoices, ...voices.filter(({ language }) => language.startsWith("en-")), ...voices];
  return bestVoice ?? speech.voice(voiceId ?? "en-US-1");
}
