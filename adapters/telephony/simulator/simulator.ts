import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { FRAME_MS, MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { msToSamples } from "../../../src/audio/samples/pcm.ts";
import { ClosedError } from "../../../src/base/error.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { type Logger, silentLogger } from "../../../src/ports/logger.ts";
import type { Network, NetworkPages } from "../../../src/ports/network-pages.ts";
import { realSystem, type System } from "../../../src/ports/system.ts";
import type { CallerId, InstanceRef, Line, LineHost } from "../../../src/ports/telephony.ts";
import { PendingLinkCodes } from "../linking/pending-link-codes.ts";
import type { CalleeActions, SimulatedCallee } from "./callee.ts";
import { decodeDevice } from "./device.ts";
import { type CallerDetails, SimulatedLine } from "./line.ts";
import { calleeScript } from "./number-plan.ts";
import { BrowserCallee } from "./phones/browser-callee.ts";
import type { PhoneCaller } from "./phones/phone-message.ts";
import { Phones } from "./phones/phones.ts";
import { type SimulatedPhone, simulatorLinkPage } from "./scanned-code-page.ts";
import { ScriptedCallee } from "./scripted-callee.ts";
import { Spool } from "./spool.ts";
import { type Say, Voices } from "./voice.ts";

/** Time for which a code stays valid after its page has been opened, ms. */
const RESERVE_MS = 120_000;

/** Options of {@link simulator}; all have defaults. */
export interface SimulatorOptions {
  /** Folder for the recordings. Default: a new temporary folder, deleted by `close()`. */
  readonly spoolDir?: string | undefined;
  /** Factor for the times of callees, linking codes and connecting, above 0; audio always runs in real time. Default: 1. */
  readonly timeScale?: number | undefined;
  /** Sample rate of every leg, Hz. Default: 16000. */
  readonly sampleRate?: 8000 | 16000 | undefined;
  readonly system?: System | undefined;
  /** Gives the callees a voice; without it they produce a speech-like noise. */
  readonly say?: Say | undefined;
  /** Limit for all recordings together, bytes; the oldest make room for the newest. Default: 2 GiB. */
  readonly maxSpoolBytes?: number | undefined;
  /**
   * Limit for one instance's recordings since the start, bytes; its oldest make room for its newest, and a longer call
   * continues unrecorded. Default: 8 MiB, four minutes at 16 kHz.
   */
  readonly maxInstanceSpoolBytes?: number | undefined;
  /** Maximum length of a recording, ms; a longer call continues unrecorded. Default: 30 minutes. */
  readonly maxRecordingMs?: number | undefined;
  readonly logger?: Logger | undefined;
  /**
   * Reason why no line can connect until the cause is fixed, such as a wrong password. Default: every line connects.
   */
  readonly lastingFault?: string | undefined;
}

/** The simulated network. */
export interface Simulator extends Network {
  readonly pages: Required<NetworkPages>;
  forget(callIds: readonly string[]): Promise<void>;
  /** The clock that drives all audio. */
  readonly clock: {
    /** Lateness of frames since the start or the last `reset()`. */
    readonly lateness: LatenessFigures & { reset(): void };
    /** Number of calls with running audio. */
    readonly size: number;
  };
}

/**
 * A telephone network that exists only in this process, and carries real audio in real time, in both directions.
 *
 * Numbers behave as in `NUMBER_PLAN`. To link a line, open the page in its QR code and press the button. A number whose
 * phone is open in a browser rings there, for the same user's calls. A recording of what the callee heard is at
 * `/simulator/calls/{callId}/heard.wav` once the call has ended.
 *
 * @throws {RangeError} if `timeScale` is not above 0
 */
export function simulator(options: SimulatorOptions = {}): Simulator {
  const { timeScale = 1, sampleRate = 16_000, system = realSystem, logger = silentLogger } = options;
  if (!(timeScale > 0 && timeScale < Infinity)) throw new RangeError(`timeScale must be above 0, not ${timeScale}`);
  const clock = new MediaClock(system);
  const frameLength = msToSamples(FRAME_MS, sampleRate);
  const codes = new PendingLinkCodes<SimulatedPhone>({
    system,
    path: "/simulator/link",
    reserveMs: RESERVE_MS,
    timeScale,
  });
  const voices = new Voices(options.say, (fault) => logger.warn({ err: fault }, "simulator: a callee's voice failed"));
  const spool = new Spool({
    dir: options.spoolDir,
    maxBytes: options.maxSpoolBytes ?? 2 ** 31,
    maxInstanceBytes: options.maxInstanceSpoolBytes ?? 2 ** 23,
    maxRecordingMs: options.maxRecordingMs ?? 30 * 60_000,
    logger,
  });
  const phones = new Phones();
  const lines = new Set<SimulatedLine>();
  /** Ids of calls that have not ended. */
  const liveCallIds = new Set<string>();
  let closing: Promise<void> | undefined;

  /** The callee for a number: the same user's phone in a browser, if one is open, otherwise a script. */
  function callee(to: string, { callId, instance, from }: CallerDetails, call: CalleeActions): SimulatedCallee {
    const group = phones.at(instance.userId, to);
    return group === undefined
      ? new ScriptedCallee({ script: calleeScript(to), call, voices, sampleRate, system, timeScale })
      : new BrowserCallee({ group, call, callId, caller: shownCaller(from), instance, sampleRate, frameLength });
  }

  async function open(instance: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line> {
    signal.throwIfAborted();
    if (closing !== undefined) throw new ClosedError("the simulator is closed");
    const [credentials] = await Promise.all([
      host.credentials.load(),
      spool.open().catch((fault: unknown) => logger.error({ err: fault }, "simulator: calls cannot be recorded")),
    ]);
    signal.throwIfAborted();
    if (closing !== undefined) throw new ClosedError("the simulator is closed");
    const device = credentials === undefined ? undefined : decodeDevice(credentials);
    const line = new SimulatedLine({
      instance,
      host,
      device,
      codes,
      lastingFault: options.lastingFault,
      leg: { clock, spool, sampleRate, system, timeScale },
      callee,
      onPlaced: (leg) => liveCallIds.add(leg.callId),
      onEnded: (leg) => liveCallIds.delete(leg.callId),
      onClosed: (line) => lines.delete(line),
    });
    lines.add(line);
    if (credentials !== undefined && device === undefined)
      system.after(0, () => host.unlinked("the stored credentials are not the simulator's"));
    return line;
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.close()));
    phones.close();
    clock.close();
    await spool.close();
  }

  return {
    name: "simulator",
    capabilities: {
      ...{ dtmf: "in-band", inboundAudioCertain: true, sampleRate },
      ...{ callerIds: "*", lines: Infinity, transfers: true },
    },
    clock,
    open,
    close: () => (closing ??= close()),
    forget: (callIds) => spool.forget(callIds),
    pages: {
      prefix: "simulator",
      page: (path, request) => simulatorLinkPage(codes, logger, path, request),
      phone: (userId, number) => phones.connect(userId, number),
      async artefact(callId, name) {
        if (name !== "heard.wav") return undefined;
        if (liveCallIds.has(callId))
          throw new Refusal("recording_not_ready", "the call is still running; try again when it has ended");
        await spool.finish(callId);
        const file = await spool.read(callId);
        if (file === undefined) return undefined;
        return {
          status: 200,
          headers: {
            "content-type": "audio/wav",
            "content-disposition": `inline; filename="${callId}.wav"`,
            "cache-control": "private, no-store",
            "content-length": String(file.size),
            ...(file.incomplete ? { "recording-incomplete": "?1" } : {}),
          },
          body: file.bytes(),
        };
      },
    },
  };
}

/** The caller as a phone shows it. */
function shownCaller({ phoneNumber, displayName, withheld = false }: CallerId): PhoneCaller {
  if (withheld) return { phone_number: null, display_name: null, withheld };
  return { phone_number: phoneNumber ?? null, display_name: displayName ?? null, withheld };
}
