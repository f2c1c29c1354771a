import type { MediaClock } from "../../../../src/audio/playout/media-clock.ts";
import { within } from "../../../../src/base/timers.ts";
import type { System } from "../../../../src/ports/system.ts";
import { DEADLINE_PASSED, type Deadlines, DialError, type DialOptions } from "../../../../src/ports/telephony.ts";
import type { WhatsAppClient, WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import type { CallPort } from "./call-port.ts";
import { ownAddresses } from "./client-addresses.ts";
import { dialFault, refusedCall } from "./dial-faults.ts";
import { EarlyReports } from "./early-reports.ts";
import { endAtClient } from "./end-at-client.ts";
import { isConnected } from "./is-connected.ts";
import { WhatsAppLeg } from "./leg.ts";
import type { NumberResolver } from "./number-resolver.ts";

/** Time limit for the client to send an offer, ms. */
export const OFFER_MS = 20_000;
/** Interval between checks for the id of a call whose offer is being sent, ms. */
const LISTING_MS = 10;
/** Time limit for the client to end an abandoned call, ms. */
const RETRACT_MS = 4_000;

/** The parts of its line and network that a call uses. */
export interface CallContext {
  readonly system: System;
  /** The clock that all calls share. */
  readonly clock: MediaClock;
  readonly deadlines: Deadlines;
  /** Shared by all lines: a number has the same address for each of them. */
  readonly numbers: NumberResolver;
}

/**
 * Places one call over a session; resolves once the client has sent the offer. An aborted signal hangs up.
 * @param onEnded called once, when the leg has ended
 * @throws {DialError} the call was not placed
 */
export async function placeWhatsAppCall(
  context: CallContext,
  port: CallPort,
  to: string,
  { mayCall }: DialOptions,
  signal: AbortSignal,
  onEnded: () => void,
): Promise<WhatsAppLeg> {
  const { system, clock, deadlines, numbers } = context;
  if (signal.aborted) throw abandonedError();
  const callee = await numbers.resolve(connectedClient(port), to, signal);
  const { phoneJid, address } = callee;
  const phone = `+${phoneJid.slice(0, phoneJid.indexOf("@"))}`;
  if ((await mayCall?.(phone)) === false) throw refusedCall(`not dialled: ${phone} may not be called`);
  if (signal.aborted) throw abandonedError();
  // Checked last, because a lock may begin while the callee is being looked up.
  const block = await port.offerBlock(callee);
  if (block !== undefined) throw block;
  if (signal.aborted) throw abandonedError();
  if (system.monotonic() >= deadlines.dial) throw new DialError("line_lost", DEADLINE_PASSED);
  const client = connectedClient(port);
  const voip = voipOf(client);
  const earlyReports = new EarlyReports(port);
  try {
    const [creator = ""] = ownAddresses(client);
    const recordCall = (callId: string): void => port.openCalls.add(callId, peerOf(voip, callId) ?? address, creator);
    const withdraw = (callId: string): Promise<void> => {
      recordCall(callId);
      return retractCall(port, client, voip, callId, system);
    };
    const callId = await offer(voip, address, system, { onOpened: recordCall, withdraw, port });
    recordCall(callId);
    if (signal.aborted || earlyReports.isAbandoned) await withdraw(callId);
    if (signal.aborted) throw abandonedError();
    const leg = new WhatsAppLeg({
      ...{ callId, port, system, clock, deadlines, onEnded },
      peerJid: address,
      resolvedAddress: phoneJid,
    });
    earlyReports.forwardTo(leg);
    const hangUp = (): void => void leg.hangUp();
    signal.addEventListener("abort", hangUp, { once: true });
    return leg;
  } catch (error) {
    const fault = dialFault(error);
    if (fault.release === "unreachable") numbers.forget(to);
    throw fault;
  } finally {
    earlyReports.stop();
  }
}

/** The address that the client has called, which may hide the number; undefined if the client has lost the call. */
function peerOf(voip: WhatsAppVoip, callId: string): string | undefined {
  try {
    return voip.getCall(callId)?.peerJid;
  } catch {
    return undefined;
  }
}

/** Reports of {@link offer}. */
interface OfferReports {
  readonly port: Pick<CallPort, "openCalls">;
  /** Called when the client has the call; its offer may leave at any time. */
  readonly onOpened: (callId: string) => void;
  /** Called if the offer was sent too late, after the call was abandoned. */
  readonly withdraw: (callId: string) => Promise<void>;
}

/**
 * Sends an offer. The client lists its call first: the call is stored immediately, before the offer leaves, because a
 * crash would leave a phone ringing. The real client stores its own keys in between, and writes keep their order.
 */
async function offer(
  voip: WhatsAppVoip,
  peerJid: string,
  system: System,
  { onOpened, withdraw, port }: OfferReports,
): Promise<string> {
  let isLate = false;
  let isPending = true;
  let listedId: string | undefined;
  const createTimeoutError = (): Error => {
    isLate = true;
    return refusedCall(`signaling timeout: no offer was sent within ${OFFER_MS / 1_000} s`);
  };
  const earlierIds = outgoingCalls(voip);
  const start = async (): Promise<string> => voip.startCall({ peerJid });
  const offerPromise = start().finally(() => {
    isPending = false;
  });
  const checkForId = (): void => {
    if (!isPending || isLate) return; // an offer that leaves later is withdrawn
    listedId = outgoingCalls(voip).find((callId) => !earlierIds.includes(callId));
    if (listedId !== undefined) onOpened(listedId);
    else system.after(LISTING_MS, checkForId);
  };
  void Promise.resolve().then(checkForId);
  offerPromise.then(
    (callId) => (isLate ? withdraw(callId) : undefined),
    (error) => {
      if (listedId === undefined) return;
      // The callee's phone gets a terminate, unless the offer certainly has not left.
      if (dialFault(error).release !== "rejected_by_network") port.openCalls.delete(listedId);
      void port.openCalls.end();
    },
  );
  return within(offerPromise, { system, ms: OFFER_MS, timeoutError: createTimeoutError });
}

/** Ids of the calls that the client is making. */
function outgoingCalls(voip: WhatsAppVoip): string[] {
  try {
    return voip.getCalls().flatMap(({ callId, direction }) => (direction === "outgoing" ? [callId] : []));
  } catch {
    return [];
  }
}

/**
 * Ends a call whose phone should no longer ring. The session may have replaced the client that sent the offer, and the
 * old client may have forgotten the call; the log then ends it over the session's connection. Never rejects.
 */
async function retractCall(
  { openCalls }: CallPort,
  client: WhatsAppClient,
  voip: WhatsAppVoip,
  callId: string,
  system: System,
): Promise<void> {
  const hangUp = Promise.resolve()
    .then(() => endAtClient(client, voip, callId))
    .then((hasLeft) => (hasLeft ? openCalls.recordTermination(callId) : undefined));
  const createTimeoutError = (): Error => new Error("the client did not end the call in time");
  await within(hangUp, { system, ms: RETRACT_MS, timeoutError: createTimeoutError }).catch(() => {});
  void openCalls.end();
}

function connectedClient({ client }: CallPort): WhatsAppClient {
  if (client === undefined || !isConnected(client))
    throw new DialError("line_lost", "the connection to WhatsApp is down");
  return client;
}

function voipOf(client: WhatsAppClient): WhatsAppVoip {
  let voip: WhatsAppVoip | undefined;
  try {
    voip = client.voip as WhatsAppVoip | undefined;
  } catch {
    throw new DialError("line_lost", "the client is between two connections");
  }
  if (voip !== undefined) return voip;
  throw new DialError(
    "internal_error",
    "the client cannot place calls: create it with plugins: [voipPlugin({ maxConcurrentCalls: 4 })]",
  );
}

function abandonedError(): DialError {
  return new DialError("released", "hung up before the call was placed");
}
