import type {
  WhatsAppClient,
  WhatsAppClientContext,
  WhatsAppClientState,
  WhatsAppNumber,
} from "../../ports/whatsapp-client.ts";
import { FakeConnection, type FakeNetwork } from "./connection.ts";
import { ContactTokens } from "./contact-tokens.ts";
import { Faults, type FaultyMethod, type NetworkFault } from "./faults.ts";
import { ClientEvents } from "./listeners.ts";
import { digitsOf } from "./numbers.ts";
import type { FakeReachoutTimelock } from "./offer-refusals.ts";
import { Pairing } from "./pairing.ts";
import { childOf, type FakeStanza } from "./stanza.ts";
import { FakeVoip } from "./voip.ts";

// biome-ignore lint/suspicious/noExplicitAny: each event has its own argument
type Listener = (argument: any) => void;
type StanzaFilter = (stanza: FakeStanza) => unknown;

/**
 * A client of a {@link FakeWhatsApp}, with the behaviour of zapo's `WaClient` 1.8.0 and its voip plugin, faults
 * included. It keeps its session in the records of its context, so a later client on the same records opens without a
 * QR code.
 *
 * Actions of a test: {@link dropSocket}, {@link stallSocket}, {@link fail}, {@link streamError}, {@link disturb},
 * {@link receive}.
 */
export class FakeWhatsAppClient implements WhatsAppClient {
  readonly context: WhatsAppClientContext;
  readonly #network: FakeNetwork;
  readonly #listeners = new ClientEvents();
  readonly #filters: StanzaFilter[] = [];
  readonly #faults: Faults;
  readonly #pairing: Pairing;
  readonly #connection: FakeConnection;
  readonly #tokens: ContactTokens;
  /** Peers whose devices are known, so that a call need not ask for them. */
  readonly #knownPeers = new Set<string>();
  #voip: FakeVoip | undefined;

  constructor(network: FakeNetwork, context: WhatsAppClientContext) {
    this.context = context;
    this.#network = network;
    this.#tokens = new ContactTokens(context);
    this.#faults = new Faults(network.system);
    this.#pairing = new Pairing(network.system, (event, argument) => this.#listeners.emit(event, argument));
    this.#connection = new FakeConnection({
      network,
      records: context.records,
      pairing: this.#pairing,
      emit: (event, argument) => this.#listeners.emit(event, argument),
      login: (credentials) => network.login(this, credentials),
    });
    this.#voip = this.#newVoip();
  }

  async connect(): Promise<void> {
    await this.#faults.apply("connect");
    this.#voip ??= this.#newVoip();
    await this.#connection.connect();
  }

  async disconnect(): Promise<void> {
    await this.#faults.apply("disconnect");
    this.#voip?.dispose();
    this.#voip = undefined;
    this.#connection.disconnect();
  }

  async logout(): Promise<void> {
    await this.#faults.apply("logout");
    if (this.#connection.credentials === null) throw new Error("cannot logout: client is not authenticated");
    await this.#connection.request();
    this.#network.onLogout(this);
  }

  getState(): WhatsAppClientState {
    return {
      connected: this.#connection.isUp,
      registered: this.#connection.credentials !== null,
      hasQr: this.#pairing.hasQr,
      hasPairingCode: this.#pairing.code !== undefined,
    };
  }

  getCredentials(): { readonly meJid?: string; readonly meLid?: string; readonly platform?: string } | null {
    return this.#connection.loadedCredentials;
  }

  on(event: string, listener: Listener): this {
    this.#listeners.on(event, listener);
    return this;
  }

  off(event: string, listener: Listener): this {
    this.#listeners.off(event, listener);
    return this;
  }

  readonly auth: WhatsAppClient["auth"] = {
    requestPairingCode: async (phone, _push, custom) => {
      await this.#faults.apply("requestPairingCode");
      if (!this.#connection.isUp) throw new Error("client is not connected");
      if (digitsOf(phone) === "") throw new Error("phone number is empty after normalization");
      await this.#connection.request();
      return this.#pairing.makeCode(digitsOf(phone), custom);
    },
  };

  readonly profile: WhatsAppClient["profile"] = {
    getLidsByPhoneNumbers: async (numbers): Promise<readonly WhatsAppNumber[]> => {
      await this.#faults.apply("getLidsByPhoneNumbers");
      for (const number of numbers)
        if (digitsOf(number) === "") throw new Error("phone number is empty after normalization");
      if (numbers.length === 0) return [];
      await this.#connection.request();
      return numbers.map((number) => this.#network.lookUp(digitsOf(number)));
    },
  };

  /** Undefined for a client that does not support time-locks. */
  get message(): { getReachoutTimelock(): Promise<FakeReachoutTimelock> } | undefined {
    if (!this.#network.timelock) return undefined;
    return {
      getReachoutTimelock: async () => {
        await this.#faults.apply("getReachoutTimelock");
        await this.#connection.request();
        return this.#network.timelockOf(this);
      },
    };
  }

  readonly lowlevel: {
    registerIncomingStanzaFilter(filter: StanzaFilter): () => void;
    sendNode(stanza: FakeStanza): Promise<void>;
  } = {
    sendNode: async (stanza) => {
      await this.#faults.apply("sendNode");
      this.#send(stanza);
    },
    registerIncomingStanzaFilter: (filter) => {
      this.#filters.push(filter);
      return () => {
        const at = this.#filters.indexOf(filter);
        if (at >= 0) this.#filters.splice(at, 1);
      };
    },
  };

  /** Another object after each `disconnect` and `connect`, and missing between them. */
  get voip(): FakeVoip {
    return this.#voip as FakeVoip; // undefined while disconnected, like the real getter, whose type hides it too
  }

  /** The codes that a person can read from the screen. */
  get shown(): { readonly qr: string | undefined; readonly code: { code: string; phone: string } | undefined } {
    return { qr: this.#pairing.qr, code: this.#pairing.code };
  }

  /**
   * Drops the socket, which then reconnects; both happen without an event.
   * @param reconnectAfterMs Default: 2000, the client's own retry. Infinity: it stays down.
   */
  dropSocket(reconnectAfterMs = 2000): void {
    this.#connection.drop(reconnectAfterMs);
  }

  /**
   * Kills the socket, as after a lost network: the client reports it as connected, everything sent or received is lost,
   * and requests get no response. The client notices after a time, and immediately opens another socket, without an
   * event.
   * @param noticedAfterMs Default: 20000, the client's ping timeout
   */
  stallSocket(noticedAfterMs = 20_000): void {
    this.#connection.stall(noticedAfterMs);
  }

  /**
   * Makes the server refuse the session: 401, 403 and 406 unlink it, 405, 409 and 503 close the connection. After any
   * other code, such as 402, the client logs in again every 2 s until it is disconnected.
   */
  fail(reason: number, attrs: Readonly<Record<string, string>> = {}): void {
    void this.receive({ tag: "failure", attrs: { reason: String(reason), ...attrs } });
  }

  /** Makes the server close the stream with an error: 515 and 516 are its codes, other texts the conflict's type. */
  streamError(kind: 515 | 516 | "replaced" | "device_removed" | "other"): void {
    const conflict: FakeStanza[] = [{ tag: "conflict", attrs: { type: String(kind) } }];
    const other: FakeStanza[] = [{ tag: "policy-violation", attrs: {} }];
    if (typeof kind === "number") void this.receive({ tag: "stream:error", attrs: { code: String(kind) } });
    else void this.receive({ tag: "stream:error", attrs: {}, content: kind === "other" ? other : conflict });
  }

  /** Makes the server ask for a passkey. A client without a signer cannot provide one, so pairing stops. */
  requirePasskey(): void {
    if (this.#connection.isUp) this.#listeners.emit("auth_passkey_required", { hasSigner: false });
  }

  /** Makes the server request another pairing code. Does nothing if the client shows none. */
  refreshCode(forceManual = false): void {
    if (this.#connection.isUp && this.#pairing.code !== undefined)
      this.#listeners.emit("auth_pairing_required", { forceManual });
  }

  /** Makes the next calls of a method misbehave. */
  disturb(method: FaultyMethod, fault: NetworkFault, times = 1): void {
    this.#faults.add(method, fault, times);
  }

  /**
   * Receives a stanza: filters see it first, and a filter that returns true keeps it from the client. Filters see
   * neither `failure` and `success` nor `stream:error`. The stanza is lost if the socket is down or dead.
   */
  async receive(stanza: FakeStanza): Promise<void> {
    if (!this.#connection.isUp || this.#connection.isStalled) return;
    this.#listeners.emit("debug_transport_node_in", { node: stanza });
    if (stanza.tag === "stream:error") return this.#connection.streamError(stanza);
    if (stanza.tag === "failure") return this.#connection.failure(stanza);
    if (stanza.tag === "success") return this.#connection.onAccepted(stanza);
    if (await this.#isFiltered(stanza)) return;
    if (stanza.tag === "call") this.#voip?.handle(stanza);
    else if (stanza.attrs.type === "mex") this.#emitMexNotification(stanza.attrs.op_name);
    else if (stanza.tag === "message" || stanza.tag === "notification")
      await this.#tokens.store(stanza, this.#network.history);
    else if (stanza.tag === "iq") await this.#pair(childOf(stanza));
  }

  #send(stanza: FakeStanza): void {
    if (this.#connection.write()) this.#network.onSent(stanza, this.#address);
  }

  /** Address of this device in its calls. */
  get #address(): string {
    const { meLid, meJid } = this.#connection.credentials ?? { meLid: "", meJid: "" };
    return meLid || meJid;
  }

  #emitMexNotification(operationName: string | undefined): void {
    if (this.#network.timelock)
      this.#listeners.emit("mex_notification", { kind: "unknown", operationName, data: {}, errors: [] });
  }

  async #isFiltered(stanza: FakeStanza): Promise<boolean> {
    for (const filter of [...this.#filters]) {
      try {
        if (await filter(stanza)) return true;
      } catch {
        // the real client logs it and continues with the next filter
      }
    }
    return false;
  }

  async #pair(child: FakeStanza | undefined): Promise<void> {
    if (child?.tag === "pair-device" && Array.isArray(child.content))
      this.#pairing.show(child.content.map((ref: FakeStanza) => String(ref.content)));
    else if (child?.tag === "pair-success") {
      const { jid = "", lid = "", platform = "" } = child.attrs;
      await this.#connection.onPaired({ meJid: jid, meLid: lid, platform });
    }
  }

  #newVoip(): FakeVoip {
    const { system, maxConcurrentCalls, newId, resolveJid } = this.#network;
    return new FakeVoip({
      system,
      maxConcurrentCalls,
      newId,
      faults: this.#faults,
      request: () => this.#connection.request(),
      write: () => this.#connection.write(),
      send: (stanza) => this.#send(stanza),
      address: () => this.#address,
      knownPeers: this.#knownPeers,
      emit: (event, argument) => this.#listeners.emit(event, argument),
      resolve: resolveJid,
      tokenOf: (jid) => this.#tokens.tokenOf(jid),
      offer: (callId, peerJid, token, voip) => {
        return this.#network.offer(this, voip, { callId, peerJid, creator: this.#address, token });
      },
      incoming: (callId) => this.#network.incoming(callId),
    });
  }
}
