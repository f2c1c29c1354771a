import { MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { ClosedError } from "../../../src/base/error.ts";
import { type Logger, silentLogger } from "../../../src/ports/logger.ts";
import type { Network } from "../../../src/ports/network-pages.ts";
import { realSystem, type System } from "../../../src/ports/system.ts";
import type { InstanceRef, Line, LineHost, Telephony, TelephonyCapabilities } from "../../../src/ports/telephony.ts";
import type { WhatsAppClientFactory } from "../../../src/ports/whatsapp-client.ts";
import { NumberResolver } from "./calls/number-resolver.ts";
import { placeWhatsAppCall } from "./calls/place-whatsapp-call.ts";
import { MEDIA_MS } from "./calls/whatsapp-call-flow.ts";
import { SAMPLE_RATE } from "./calls/whatsapp-frame.ts";
import { WhatsAppLine } from "./line.ts";
import { LoginTurns } from "./session/client/login-turns.ts";
import { decodeCredentials } from "./session/records/link-credentials.ts";
import { WhatsAppSession } from "./session/whatsapp-session.ts";

/** Options of {@link whatsapp}. */
export interface WhatsAppOptions {
  /**
   * Creates the client of an instance, such as zapo's `WaClient` with its voip plugin. Called for each linking, for
   * each linked number when the server starts, and whenever a client can no longer be used.
   */
  readonly client: WhatsAppClientFactory;
  /**
   * The users whose instances may link a number: user ids, everyone (`*`), or the server's first user (`first`).
   * Default: `*`.
   */
  readonly users?: Telephony["users"];
  /**
   * True if the client returns the callee's audio. zapo 1.8 does not do so on the live network, unless its relays are
   * dialled on another port (docs/whatsapp.md). Agents, streams, keys and the detection of machines need it. Default:
   * false.
   */
  readonly receivesAudio?: boolean | undefined;
  readonly system?: System | undefined;
  readonly logger?: Logger | undefined;
}

const CAPABILITIES: TelephonyCapabilities = {
  dtmf: "in-band",
  // zapo 1.8 gets no audio from the callee, who still hears the message: silence does not prove that the relay is dead.
  inboundAudioCertain: false,
  // The relay of a call may connect late; the call ends automatically before this.
  mediaSetupMs: MEDIA_MS + 1_000,
  linking: "code",
  sampleRate: SAMPLE_RATE,
  // Bursts of calls to strangers get a number banned, especially soon after it was linked.
  // Only some refusals count: see offer-errors.ts.
  protection: {
    paceMs: 20_000,
    paceJitter: 0.5,
    warmUp: { firstDay: 20, growth: 1.3, days: 14 },
    refusals: { calls: 3, pauseMs: 3_600_000 },
  },
};

/**
 * Telephony over linked WhatsApp numbers: the owner of a number scans a code, as for WhatsApp Web, and calls leave from
 * that number. This is not an official WhatsApp interface (docs/whatsapp.md).
 *
 * ```ts
 * const client = ({ sessionId, records }) =>
 *   new WaClient({ sessionId, store: createStore(whatsappStore(records)), plugins: [voipPlugin({ maxConcurrentCalls: 4 })] });
 * createRingport({ telephony: whatsapp({ client }) });
 * ```
 *
 * @throws {TypeError} if `client` is not a function
 */
export function whatsapp({
  client,
  users,
  receivesAudio = false,
  system = realSystem,
  logger = silentLogger,
}: WhatsAppOptions): Network {
  if (typeof client !== "function")
    throw new TypeError(
      "`client` must be a function that creates a WhatsApp client: each logout invalidates the client",
    );
  const clock = new MediaClock(system);
  const numbers = new NumberResolver(system);
  const logins = new LoginTurns(system);
  const lines = new Set<WhatsAppLine>();
  let closing: Promise<void> | undefined;

  async function open(instance: InstanceRef, host: LineHost, signal: AbortSignal): Promise<Line> {
    const credentials = await host.credentials.load();
    signal.throwIfAborted();
    const sessionId = credentials && decodeCredentials(credentials);
    if (closing !== undefined) throw new ClosedError("the network is closed");
    const session = new WhatsAppSession({ instanceId: instance.id, host, system, logger, client, logins });
    const call = { system, clock, deadlines: host.deadlines, numbers };
    const line = new WhatsAppLine({
      ...{ host, session, system },
      place: (...args) => placeWhatsAppCall(call, ...args),
      onClosed: (line) => lines.delete(line),
    });
    lines.add(line);
    if (credentials === undefined) return line;
    if (sessionId !== undefined) session.resume(sessionId);
    else system.after(0, () => host.unlinked("the stored credentials do not belong to a linked WhatsApp number"));
    return line;
  }

  async function close(): Promise<void> {
    await Promise.all([...lines].map((line) => line.close()));
    logins.stop();
    clock.close();
  }

  return {
    name: "whatsapp",
    capabilities: { ...CAPABILITIES, receivesAudio },
    users,
    open,
    close: () => (closing ??= close()),
  };
}
