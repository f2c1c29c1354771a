import type { LineRecords } from "./telephony/line-records.ts";

/**
 * Client for WhatsApp's linked devices: the part of zapo's `WaClient` (1.8.0, with its voip plugin) that Ringport uses,
 * as a structural type. An object of that class satisfies it unchanged, as does any other client with the same
 * behaviour.
 */
export interface WhatsAppClient {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  /** Removes this device from the number's linked devices. The client cannot be used again. */
  logout(): Promise<void>;
  getState(): WhatsAppClientState;
  getCredentials(): { readonly meJid?: string; readonly meLid?: string; readonly platform?: string } | null;
  /**
   * Events: `auth_qr`, `auth_pairing_required`, `auth_passkey_required`, `auth_paired`, `connection`, `stream_failure`,
   * those of calls, `debug_connection_success` for each login that WhatsApp has accepted, and `debug_transport_node_in`
   * for each incoming stanza. Without `debug_connection_success`, a login counts as accepted if the connection stays
   * open for 3 s, and a login that the client makes on its own is not counted; without `debug_transport_node_in`,
   * stream errors are noticed late.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the real class types its events by overloads, which only `any` accepts
  on(event: any, listener: (argument: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  off(event: any, listener: (argument: any) => void): unknown;
  readonly auth: { requestPairingCode(phone: string, push?: boolean, custom?: string): Promise<string> };
  readonly profile: {
    getLidsByPhoneNumbers(numbers: readonly string[]): Promise<readonly WhatsAppNumber[]>;
  };
  /**
   * The time-lock of the number, by which it may not call people who have not written to it (error 463). Its changes
   * arrive as `mex_notification`. Without it, such a lock is noticed only when a call is refused, and its end is
   * unknown.
   */
  readonly message?: { readonly getReachoutTimelock?: (() => Promise<WhatsAppTimelock>) | undefined } | undefined;
  readonly lowlevel: {
    /**
     * The filter sees every incoming stanza first; it returns false to leave it to the client. Returns a function that
     * removes it.
     */
    // biome-ignore lint/suspicious/noExplicitAny: the real class has a special type for stanzas
    registerIncomingStanzaFilter(filter: (stanza: any) => any): () => void;
    /** Sends a stanza. Without it, a callee's phone may ring or stay connected after a crash, or a lost link. */
    // biome-ignore lint/suspicious/noExplicitAny: as above
    sendNode?(stanza: any): Promise<void>;
  };
  /** The client's calls. Read this for every use: it is a new object after each reconnect. */
  readonly voip: WhatsAppVoip;
}

/** The current state of a client's connection. */
export interface WhatsAppClientState {
  readonly connected: boolean;
  readonly registered: boolean;
  readonly hasQr: boolean;
  readonly hasPairingCode: boolean;
}

/** The time-lock of a number. */
export interface WhatsAppTimelock {
  readonly isActive: boolean;
  /** Seconds since 1970-01-01 UTC; null if it is unknown. */
  readonly enforcementEndsAt: number | null;
}

/** Addresses of a number, if it is on WhatsApp. */
export interface WhatsAppNumber {
  /** `5511987654321@s.whatsapp.net`: WhatsApp's address of the number. */
  readonly phoneJid: string;
  /** `123456789@lid`: the address that hides the number; null if there is none. */
  readonly lidJid: string | null;
  readonly exists: boolean;
  readonly invalid: boolean;
}

/** The calls of a client. */
export interface WhatsAppVoip {
  /** Resolves with the call id once the offer has been sent. */
  startCall(options: { peerJid: string; isVideo?: boolean }): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: the real class has an enum for reasons
  endCall(callId: string, reason?: any): Promise<void>;
  /** Sends frames from `feedLiveAudio` instead of a microphone's. */
  setExternalAudioMode(callId: string, enabled: boolean): void;
  /** Queues samples of 16 kHz, -1 to 1; returns the length of the buffered audio, ms. */
  feedLiveAudio(callId: string, samples: Float32Array): number;
  /** Length of the audio that has been fed but not sent yet, ms. */
  getLiveBufferMs(callId: string): number;
  /** Feeding pauses at `pauseMs` of buffered audio, and continues at `resumeMs`. */
  getFeedWatermarksMs(): { pauseMs: number; resumeMs: number };
  setMute(callId: string, muted: boolean): void;
  getCall(callId: string): WhatsAppCall | null;
  getCalls(): readonly WhatsAppCall[];
}

/** One call as the client reports it. */
export interface WhatsAppCall {
  readonly callId: string;
  readonly peerJid: string;
  readonly direction: string;
  readonly stateData: {
    /**
     * `initiating`, `ringing` (the offer was sent), `incoming_ringing`, `connecting` (accepted), `active`, `on_hold`,
     * `ended`.
     */
    readonly state: string;
    readonly connectedAt?: Date;
    readonly acceptedAt?: Date;
    readonly endedAt?: Date;
    readonly endReason?: string;
    readonly durationSecs?: number;
    readonly audioMuted: boolean;
  };
}

/** Input of a client factory. */
export interface WhatsAppClientContext {
  readonly instanceId: string;
  /**
   * Names the session in the client's own store; a new one after each unlinking, because that invalidates the client.
   */
  readonly sessionId: string;
  /** Store of the session: encrypted in Ringport's storage, and erased with the instance's credentials. */
  readonly records: LineRecords;
}

/** Creates the client of one instance; called again whenever a new client is needed, for example after a logout. */
export type WhatsAppClientFactory = (context: WhatsAppClientContext) => WhatsAppClient | Promise<WhatsAppClient>;
