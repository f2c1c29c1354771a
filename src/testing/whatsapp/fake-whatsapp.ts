import { toHex } from "../../base/hex.ts";
import { realSystem, type System } from "../../ports/system.ts";
import type { WhatsAppClientContext, WhatsAppClientFactory } from "../../ports/whatsapp-client.ts";
import { FakeWhatsAppCall } from "./call.ts";
import { FakeWhatsAppClient } from "./client.ts";
import { type FakeNetwork, RECONNECT_MS } from "./connection.ts";
import { contactToken, historyStanza, tokenStanza } from "./contact-tokens.ts";
import { Directory } from "./directory.ts";
import { FakeIncomingCall } from "./incoming-call.ts";
import { deviceJid, deviceOf, digitsOf, type FakeNumber, userOf } from "./numbers.ts";
import { type FakeOfferRefusal, OfferRefusals, TIMELOCK } from "./offer-refusals.ts";
import { QR_TTL_MS } from "./pairing.ts";
import { type FakeWrtc, fakeWrtc } from "./peer-connection.ts";
import { CallRelays, type FakeRelay, responds } from "./relays.ts";
import type { FakeCredentials } from "./session-record.ts";
import { callStanza, childOf, type FakeStanza, offerStanza } from "./stanza.ts";

/** Options of {@link FakeWhatsApp}. */
export interface FakeWhatsAppOptions {
  /** Round-trip time of a request to the network, ms. Default: 25. */
  readonly latencyMs?: number;
  /** Maximum number of concurrent calls of a client, including incoming ones. Default: 4; the plugin's own is 1. */
  readonly maxConcurrentCalls?: number;
  /**
   * The client's option of that name: without it, the privacy tokens in the history of a new link are lost. Default:
   * enabled.
   */
  readonly history?: { readonly enabled?: boolean };
  /** True if clients support time-locks, by query and by notification. Default: true. */
  readonly timelock?: boolean;
}

/** One login of a linked device at a {@link FakeWhatsApp}. */
export interface FakeLogin {
  readonly instanceId: string;
  /** Time on the monotonic clock, ms. */
  readonly atMs: number;
  /** The refusal; undefined for an accepted login. */
  readonly refused: FakeLoginRefusal | undefined;
}

/**
 * The refusal of a login: a reason, such as 402, an error of the stream (`other`), or a socket that closes without
 * either (`drop`).
 */
export type FakeLoginRefusal = number | "other" | "drop";

/**
 * A WhatsApp network for tests and examples: it makes clients, a test links them, and scripts the people whom they
 * call. Nothing leaves the process. Time is that of its `System`.
 *
 * ```ts
 * const network = new FakeWhatsApp(system);
 * network.number("+5511987654321", { devices: [{ does: "answer", afterMs: 2000 }], echoes: true });
 * const telephony = whatsapp({ client: network.client });
 * // … once an instance shows a QR code:
 * network.scan(code, "+5511912345678");
 * // … once a call was created:
 * network.call().heard; // what the callee has heard
 * ```
 */
export class FakeWhatsApp {
  readonly system: System;
  /** All clients, including closed clients, in the order of their creation. */
  readonly clients: FakeWhatsAppClient[] = [];
  /** All calls of the clients, in the order of their offers. */
  readonly calls: FakeWhatsAppCall[] = [];
  /** Called for each new client, before it connects. */
  onClient: (client: FakeWhatsAppClient) => void = () => {};
  /** Called for each offered call, before its script starts. */
  onCall: (call: FakeWhatsAppCall) => void = () => {};
  /** Called for each call once the callee is notified of its end. */
  onCallEnd: (call: FakeWhatsAppCall) => void = () => {};
  /** The logins of linked devices, including refused logins, in order. */
  readonly logins: FakeLogin[] = [];
  /** Refusal of every login by the network, such as with 402, 405, 503 or 515. Default: it refuses none. */
  refuses: FakeLoginRefusal | undefined;
  /**
   * Further attributes of a refusal: `expire` is the number of seconds that a temporary ban (402) lasts. Default: none.
   */
  refusalAttrs: Readonly<Record<string, string>> = {};
  /**
   * True if a refusal arrives before the client reports its connection as open: then `connect` rejects. Default: false.
   */
  refusesAtOnce = false;
  /** True if unlinked clients get QR codes. Default: true. */
  offersCodes = true;
  /**
   * The relays that clients dial for each call, as zapo 1.8 does: on port 3478, where no audio arrives from the callee.
   * Default: undefined, which means one relay without ports that carries both directions.
   */
  relays: readonly FakeRelay[] | undefined;
  /** Replaces the package `@roamhq/wrtc`, whose peer connections clients use to dial the relays. */
  readonly wrtc: FakeWrtc;
  /** True if phones that scan a code need a passkey, which ends the linking. Default: false. */
  needsPasskey = false;
  readonly #options: Pick<FakeNetwork, "latencyMs" | "maxConcurrentCalls" | "history" | "timelock">;
  readonly #directory = new Directory();
  /** The client of each linked device; undefined while none is connected. */
  readonly #devices = new Map<string, FakeWhatsAppClient | undefined>();
  readonly #unlinkedDevices = new Set<string>();
  /** Devices that were linked and have not logged in since. */
  readonly #newLinks = new Set<string>();
  readonly #incomingCalls = new Map<string, FakeIncomingCall>();
  readonly #refusals: OfferRefusals;
  readonly #network: FakeNetwork;
  #reachable = true;
  #lastDevice = 0;

  constructor(system: System = realSystem, options: FakeWhatsAppOptions = {}) {
    const { latencyMs = 25, maxConcurrentCalls = 4, history, timelock = true } = options;
    this.system = system;
    this.#options = { latencyMs, maxConcurrentCalls, history: history?.enabled !== false, timelock };
    this.#refusals = new OfferRefusals(system, (refusal) => this.#announce(refusal));
    this.#network = this.#newNetwork();
    this.wrtc = fakeWrtc({
      system,
      responds: (ip, port) => this.relays?.some((relay) => relay.ip === ip && responds(relay, port)) === true,
    });
  }

  /** Makes the client of an instance: pass it to `whatsapp({ client })`. */
  readonly client: WhatsAppClientFactory = (context: WhatsAppClientContext): FakeWhatsAppClient => {
    const client = new FakeWhatsAppClient(this.#network, context);
    this.clients.push(client);
    this.onClient(client);
    return client;
  };

  /** The latest client of an instance, or of all. Throws an Error if there is none. */
  clientOf(instanceId?: string): FakeWhatsAppClient {
    const client = this.clients.findLast(
      ({ context }) => instanceId === undefined || context.instanceId === instanceId,
    );
    if (!client) throw new Error(`no client was made${instanceId === undefined ? "" : ` for ${instanceId}`}`);
    return client;
  }

  /** The latest call, or the one of a client's call id. Throws an Error if there is none. */
  call(callId?: string): FakeWhatsAppCall {
    const call = this.calls.findLast((call) => callId === undefined || call.callId === callId);
    if (!call) throw new Error(`no call was offered${callId === undefined ? "" : ` with the id ${callId}`}`);
    return call;
  }

  /** Describes a number, which must be in WhatsApp's form. */
  number(phone: string, number: FakeNumber): void {
    this.#directory.describe(phone, number);
  }

  /**
   * Behaviour of numbers that {@link number} did not describe; null: they are not on WhatsApp. Default: each answers.
   */
  get otherNumbers(): FakeNumber | null {
    return this.#directory.otherNumbers;
  }

  set otherNumbers(others: FakeNumber | null) {
    this.#directory.otherNumbers = others;
  }

  /** Makes a phone's owner scan a QR code. Throws an Error if no client shows that code now. */
  scan(qr: string, phone: string): void {
    const client = this.clients.find(({ shown }) => shown.qr === qr);
    if (!client) throw new Error("no client shows this QR code: it has expired, or was never valid");
    this.#link(client, digitsOf(phone));
  }

  /** Makes a phone's owner type a pairing code. Throws an Error if no client shows that code for this phone. */
  typeCode(code: string, phone: string): void {
    const normalizedCode = code.replaceAll("-", "").toUpperCase();
    const client = this.clients.find(
      ({ shown }) => shown.code?.code === normalizedCode && shown.code.phone === digitsOf(phone),
    );
    if (!client) throw new Error(`no client shows the pairing code "${code}" for ${phone}`);
    this.#link(client, digitsOf(phone));
  }

  /** The addresses of the devices that are linked to a phone, including offline devices. */
  linkedDevices(phone: string): string[] {
    const digits = digitsOf(phone);
    return [...this.#devices.keys()].filter((jid) => userOf(jid) === digits && !this.#unlinkedDevices.has(jid));
  }

  /** Makes a phone's owner remove all linked devices; offline devices notice at their next login. */
  unlink(phone: string): void {
    for (const [jid, client] of this.#devices)
      if (userOf(jid) === digitsOf(phone)) {
        this.#unlinkedDevices.add(jid);
        client?.streamError("device_removed");
      }
  }

  /** Makes a phone's owner write to linked numbers: each client gets the owner's privacy token in a notification. */
  write(from: string, to?: string): void {
    const contact = digitsOf(from);
    for (const [jid, client] of this.#devices) {
      const owner = userOf(jid);
      if (client === undefined || (to !== undefined && digitsOf(to) !== owner)) continue;
      this.#deliver(client, tokenStanza(this.#newId(), this.#directory.peerOf(contact), contactToken(contact, owner)));
    }
  }

  /** Makes the network refuse offers from now on. */
  refuseOffers(refusal: FakeOfferRefusal): void {
    this.#refusals.add(refusal);
  }

  /** Makes the network accept all offers again. */
  acceptOffers(): void {
    this.#refusals.clear();
  }

  /** Makes a person call a client's number. */
  ring(client: FakeWhatsAppClient, from = "+12025550142"): FakeIncomingCall {
    const callId = this.#newId();
    const peer = this.#directory.peerOf(digitsOf(from));
    const call = { callId, from: peer, creator: peer };
    const send = (tag: string): void => this.#deliver(client, callStanza(tag, this.#newId(), call));
    const incomingCall = new FakeIncomingCall(callId, peer, () => send("terminate"));
    this.#incomingCalls.set(callId, incomingCall);
    send("offer");
    return incomingCall;
  }

  /** True if clients reach the network. Setting it to false drops their sockets, without an event. */
  get reachable(): boolean {
    return this.#reachable;
  }

  set reachable(reachable: boolean) {
    this.#reachable = reachable;
    if (!reachable) for (const client of this.clients) client.dropSocket(RECONNECT_MS);
  }

  #link(client: FakeWhatsAppClient, phone: string): void {
    if (this.needsPasskey) {
      client.requirePasskey();
      return;
    }
    const jid = deviceJid(`${phone}@s.whatsapp.net`, ++this.#lastDevice);
    const lid = deviceJid(this.#directory.peerOf(phone), this.#lastDevice);
    this.#newLinks.add(jid);
    const success: FakeStanza = { tag: "pair-success", attrs: { jid, lid, platform: "android" } };
    this.#deliver(client, { tag: "iq", attrs: { id: this.#newId(), type: "set" }, content: [success] });
  }

  #login(client: FakeWhatsAppClient, credentials: FakeCredentials | null): void {
    const isUnlinked = credentials !== null && this.#unlinkedDevices.has(credentials.meJid);
    const refusal = this.refuses ?? (isUnlinked ? 401 : undefined);
    if (credentials !== null) {
      const { instanceId } = client.context;
      this.logins.push({ instanceId, atMs: this.system.monotonic(), refused: refusal });
    }
    if (refusal !== undefined) this.#refuse(client, refusal);
    else if (credentials !== null) this.#welcome(client, credentials);
    else if (this.offersCodes) this.#offerCodes(client);
  }

  #refuse(client: FakeWhatsAppClient, refusal: FakeLoginRefusal): void {
    const { latencyMs } = this.#options;
    const refuse = () => {
      if (refusal === "drop") client.dropSocket();
      else if (refusal === 515 || refusal === "other") client.streamError(refusal);
      else client.fail(refusal, this.refusalAttrs);
    };
    if (this.refusesAtOnce) refuse();
    else this.system.after(latencyMs, refuse);
  }

  #welcome(client: FakeWhatsAppClient, { meJid, meLid }: FakeCredentials): void {
    const isNewLink = this.#newLinks.delete(meJid);
    const otherClient = this.#devices.get(meJid);
    this.#devices.set(meJid, client);
    this.#lastDevice = Math.max(this.#lastDevice, deviceOf(meJid)); // another process may have stored a session
    if (otherClient !== undefined && otherClient !== client) otherClient.streamError("replaced");
    this.#deliver(client, { tag: "success", attrs: { lid: meLid } });
    this.#deliver(client, { tag: "ib", attrs: {}, content: [{ tag: "offline", attrs: { count: "0" } }] });
    const tokens = isNewLink ? this.#directory.historyOf(userOf(meJid)) : new Map();
    if (tokens.size > 0) this.#deliver(client, historyStanza(this.#newId(), meJid, tokens));
  }

  #offerCodes(client: FakeWhatsAppClient): void {
    const refs = QR_TTL_MS.map((): FakeStanza => ({ tag: "ref", attrs: {}, content: `2@${this.#newId()}` }));
    const pairDevice: FakeStanza = { tag: "pair-device", attrs: {}, content: refs };
    this.#deliver(client, { tag: "iq", attrs: { id: this.#newId(), type: "set" }, content: [pairDevice] });
  }

  #offer(...[client, voip, { callId, peerJid, creator, token }]: Parameters<FakeNetwork["offer"]>): FakeWhatsAppCall {
    const phone = this.#directory.phoneOf(peerJid);
    const number = this.#directory.numberOf(phone) ?? { devices: [] };
    if (number.devices?.length === 0) throw new Error(`no device sessions to encrypt the call offer for ${peerJid}`);
    const owner = ownerOf(client);
    const isStranger = token === undefined || String(token) !== String(contactToken(phone, owner));
    const stanza = offerStanza(this.#newId(), peerJid, { callId, from: creator, creator }, token);
    const call: FakeWhatsAppCall = new FakeWhatsAppCall({
      ...{ system: this.system, callId, creator, peerJid, phone, number, offer: stanza },
      refusal: () => this.#refusals.errorFor(owner, isStranger),
      newId: this.#newId,
      deliver: (stanza) => void client.receive(stanza),
      connectMedia: () => voip.connectMedia(callId),
      dialRelays: (connected) => this.#dialRelays(connected),
      sendAudio: (frame) => voip.receiveAudio(callId, frame),
      onEnd: () => this.onCallEnd(call),
    });
    this.calls.push(call);
    this.onCall(call);
    this.system.after(this.#options.latencyMs, () => call.start());
    return call;
  }

  /** Handles a stanza of a client; only a `<terminate>` has an effect. */
  #handleSent(stanza: FakeStanza, creator: string): void {
    const child = childOf(stanza);
    if (stanza.tag !== "call" || child?.tag !== "terminate") return;
    const id = child.attrs["call-id"] ?? "";
    const call = this.calls.find(({ callId }) => callId === id);
    this.system.after(this.#options.latencyMs, () => {
      call?.receiveTerminate(stanza, creator);
      this.#incomingCalls.get(id)?.stop("caller");
    });
  }

  /** Notifies a number's clients of the start and the end of its time-lock. */
  #announce({ error, from }: FakeOfferRefusal): void {
    if (error !== TIMELOCK) return;
    const attrs = { type: "mex", op_name: "NotificationUserReachoutTimelockUpdate" };
    for (const client of this.#devices.values())
      if (client !== undefined && (from === undefined || digitsOf(from) === ownerOf(client)))
        this.#deliver(client, { tag: "notification", attrs: { ...attrs, id: this.#newId() } });
  }

  #dialRelays(connected: () => void): CallRelays | undefined {
    const { system, wrtc, relays } = this;
    return relays && new CallRelays({ system, relays, wrtc, onConnected: connected });
  }

  #deliver(client: FakeWhatsAppClient, stanza: FakeStanza): void {
    this.system.after(this.#options.latencyMs, () => void client.receive(stanza));
  }

  readonly #newId = (): string => {
    const bytes = new Uint8Array(16);
    this.system.random(bytes);
    return toHex(bytes).toUpperCase();
  };

  #newNetwork(): FakeNetwork {
    const { system } = this;
    const reachable = (): boolean => this.#reachable;
    return {
      system,
      ...this.#options,
      get reachable() {
        return reachable();
      },
      newId: this.#newId,
      resolveJid: (jid) => this.#directory.resolve(jid),
      lookUp: (digits) => this.#directory.lookUp(digits),
      login: (client, credentials) => this.#login(client, credentials),
      onLogout: (client) => {
        this.#unlinkedDevices.add(client.getCredentials()?.meJid ?? "");
        this.system.after(this.#options.latencyMs, () => client.streamError("device_removed"));
      },
      offer: (client, voip, call) => this.#offer(client, voip, call),
      timelockOf: (client) => this.#refusals.timelockOf(ownerOf(client)),
      incoming: (callId) => this.#incomingCalls.get(callId),
      onSent: (stanza, creator) => this.#handleSent(stanza, creator),
    };
  }
}

/** The digits of a client's number. */
function ownerOf(client: FakeWhatsAppClient): string {
  return userOf(client.getCredentials()?.meJid ?? "");
}
