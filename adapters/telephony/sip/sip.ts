import { type Logger, silentLogger } from "../../../src/ports/logger.ts";
import { realSystem, type System } from "../../../src/ports/system.ts";
import type { InstanceRef, Line, LineHost, Telephony } from "../../../src/ports/telephony.ts";
import { type SipAccountsOptions, sipAccounts } from "./accounts/accounts.ts";
import { faultText, parseTrunks } from "./config/parse-trunks.ts";
import { resolveTrunk } from "./config/resolve-trunk.ts";
import type { Trunk } from "./config/trunk.ts";
import { loadRefusals } from "./destinations/destinations.ts";
import type { SipLine } from "./line.ts";
import type { CreateEngineOptions, MediaPlace } from "./media/create-engine.ts";
import type { MediaEngine } from "./media/engine.ts";
import type { SipTrunk } from "./trunk.ts";

/** Options of {@link sip}. */
export interface SipOptions {
  readonly trunks: readonly Trunk[];
  /** The network `sip` as well, in which each instance brings an account that its owner enters himself. Default: false. */
  readonly accounts?: boolean | SipAccountsOptions | undefined;
  readonly system?: System | undefined;
  readonly logger?: Logger | undefined;
  /**
   * Where the audio of calls lives: in the `thread` of the application, or in a `worker` of its own, which the
   * application's load does not disturb. Default: `auto`, a worker where there is more than one processor.
   */
  readonly media?: MediaPlace | undefined;
}

/**
 * Telephony over SIP trunks: one network for each of them, named `sip/<name>`. They share the machinery of the media,
 * which is closed with the last of them. Nothing is opened before the first line is.
 *
 * ```ts
 * createRingport({ telephony: sip({ trunks: [{ name: "acme", server: "sip:sip.acme.example" }] }) });
 * ```
 *
 * @throws {Error} naming every fault of every trunk at once
 */
export function sip(options: SipOptions): readonly Telephony[] {
  const { system = realSystem, logger = silentLogger } = options;
  const { trunks, faults } = parseTrunks(options.trunks);
  if (trunks === undefined)
    throw new Error(`The SIP trunks are not right:\n${faults.map((fault) => `- ${faultText(fault)}`).join("\n")}`);
  const accounts = options.accounts === true ? {} : options.accounts || undefined;
  const media = sharedMedia({ system, logger, place: options.media }, trunks.length + (accounts ? 1 : 0));
  const networks = trunks.map((trunk) => telephonyOf(trunk, system, logger, media));
  return accounts ? [...networks, sipAccounts(accounts, { system, logger, media })] : networks;
}

/** One media engine for so many trunks; closed when all of them are. */
interface SharedMedia {
  engine(): Promise<MediaEngine>;
  release(): Promise<void>;
}

function sharedMedia(options: CreateEngineOptions, trunks: number): SharedMedia {
  let opening: Promise<MediaEngine> | undefined;
  let users = trunks;
  return {
    engine() {
      opening ??= import("./media/create-engine.ts").then(({ createEngine }) => createEngine(options));
      return opening;
    },
    async release() {
      if (--users === 0) await (await opening)?.close();
    },
  };
}

function telephonyOf(given: Trunk, system: System, logger: Logger, media: SharedMedia): Telephony {
  const trunk = resolveTrunk(given);
  const rule = loadRefusals(trunk, `trunk ${trunk.name}`);
  const lines = new Set<SipLine>();
  let opening: Promise<SipTrunk> | undefined;
  let closing: Promise<void> | undefined;

  async function open(_: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line> {
    const insist = (): void => {
      signal.throwIfAborted();
      if (closing !== undefined) throw new Error(`The trunk ${trunk.name} is closed.`);
    };
    insist();
    opening ??= import("./trunk.ts").then(
      ({ SipTrunk }) => new SipTrunk({ trunk, system, logger, media: () => media.engine() }),
    );
    const [sipTrunk, { SipLine }] = await Promise.all([opening, import("./line.ts")]);
    insist();
    const line = new SipLine({
      host,
      trunk: sipTrunk,
      closed() {
        cancelLink();
        lines.delete(line);
      },
    });
    lines.add(line);
    const cancelLink = system.after(0, () => void line.link()); // whoever opens it has it in hand before the first report
    return line;
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.close()));
    await (await opening)?.close();
    await media.release();
  }

  return {
    name: `sip/${trunk.name}`,
    capabilities: {
      dtmf: "event",
      inboundAudioCertain: false,
      linking: "operator",
      sampleRate: trunk.sampleRate,
    },
    users: trunk.users ?? "first",
    open,
    refuses: async (phoneNumber) => (await rule())(phoneNumber),
    close: () => (closing ??= close()),
  };
}
