/**
 * The public types of zapo's `WaClient` 1.8.0 with its voip plugin, reduced to the parts that Ringport uses, copied from
 * its documentation: with its overloads, enums and generics, because a structural type easily becomes too narrow for them. No code here runs.
 */

export declare enum EndCallReason {
  UserEnded = "user_ended",
  Declined = "declined",
  Timeout = "timeout",
  Busy = "busy",
  Cancelled = "cancelled",
  Failed = "failed",
  DoNotDisturb = "do_not_disturb",
  Unknown = "unknown",
}

declare enum CallState {
  Initiating = "initiating",
  Ringing = "ringing",
  IncomingRinging = "incoming_ringing",
  Connecting = "connecting",
  Active = "active",
  OnHold = "on_hold",
  Ended = "ended",
}

declare enum CallDirection {
  Outgoing = "outgoing",
  Incoming = "incoming",
}

/** `CallInfo`: a class with a private part and writable fields. */
export declare class CallInfo {
  private constructor(init: object);
  callId: string;
  peerJid: string;
  callCreator: string;
  direction: CallDirection;
  mediaType: "audio" | "video";
  stateData: {
    state: CallState;
    connectedAt?: Date;
    acceptedAt?: Date;
    endedAt?: Date;
    audioMuted: boolean;
    videoOff: boolean;
    acceptBlocked?: boolean;
    endReason?: EndCallReason;
    durationSecs?: number;
  };
  createdAt: Date;
  encryptionKey?: Uint8Array;
  get isInitiator(): boolean;
}

export interface BinaryNode {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content?: Uint8Array | string | readonly BinaryNode[];
}

interface EventMap {
  readonly auth_qr: (event: { readonly qr: string; readonly ttlMs: number }) => void;
  readonly auth_pairing_code: (event: { readonly code: string }) => void;
  readonly auth_paired: (event: { readonly credentials: Credentials }) => void;
  readonly connection: (
    event:
      | { readonly status: "open"; readonly reason: "connected" | "reconnected"; readonly isNewLogin: boolean }
      | { readonly status: "close"; readonly reason: string; readonly code: number | null; readonly isLogout: boolean },
  ) => void;
  readonly voip_call_state: (call: CallInfo) => void;
  readonly voip_call_inbound_audio: (payload: { readonly call: CallInfo; readonly pcm: Float32Array }) => void;
}

interface Credentials {
  readonly noiseKeyPair: { readonly pubKey: Uint8Array; readonly privKey: Uint8Array };
  readonly meJid?: string;
  readonly meLid?: string;
  readonly platform?: string;
}

/** `WaVoipCoordinator`: private fields, generic and chained listeners, its own enum of reasons. */
export declare class RealVoip {
  private readonly manager;
  startCall(options: {
    peerJid: string;
    isVideo?: boolean;
    audioFile?: string;
    peerDevices?: string[];
  }): Promise<string>;
  acceptCall(callId: string): Promise<void>;
  rejectCall(callId: string, reason?: EndCallReason): Promise<void>;
  endCall(callId: string, reason?: EndCallReason): Promise<void>;
  loadAudio(callId: string, audioPath: string): Promise<void>;
  setMute(callId: string, isMuted: boolean): void;
  setExternalAudioMode(callId: string, enabled: boolean): void;
  feedLiveAudio(callId: string, data: Float32Array): number;
  getLiveBufferMs(callId: string): number;
  getFeedWatermarksMs(): { pauseMs: number; resumeMs: number };
  getCall(callId: string): CallInfo | null;
  getCalls(): readonly CallInfo[];
  on<K extends keyof EventMap>(event: K, listener: EventMap[K]): this;
  dispose(): void;
}

/** `WaClient<VoipEvents> & { voip }`: overloaded and generic listeners that return `this`, getters, union arguments. */
export declare class RealClient {
  private readonly deps;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  logout(reason?: "user_initiated" | "account_locked"): Promise<void>;
  getState(): { connected: boolean; registered: boolean; hasQr: boolean; hasPairingCode: boolean };
  getCredentials(): Credentials | null;
  getClockSkewMs(): number | null;
  on<K extends keyof EventMap>(event: K, listener: EventMap[K]): this;
  on(event: string | symbol, listener: (...args: unknown[]) => void): this;
  off<K extends keyof EventMap>(event: K, listener: EventMap[K]): this;
  off(event: string | symbol, listener: (...args: unknown[]) => void): this;
  get auth(): {
    requestPairingCode(phoneNumber: string, shouldShowPushNotification?: boolean, customCode?: string): Promise<string>;
    clearStoredCredentials(): Promise<void>;
  };
  get profile(): {
    readonly getLidsByPhoneNumbers: (phoneNumbers: readonly string[]) => Promise<
      readonly {
        readonly queriedJid: string;
        readonly phoneJid: string;
        readonly lidJid: string | null;
        readonly exists: boolean;
        readonly invalid: boolean;
      }[]
    >;
  };
  get message(): {
    getReachoutTimelock(): Promise<{
      readonly isActive: boolean;
      readonly enforcementType: string | null;
      readonly enforcementEndsAt: number | null;
    }>;
    send(to: string, content: string): Promise<object>;
  };
  get lowlevel(): {
    readonly registerIncomingStanzaFilter: (filter: (node: BinaryNode) => boolean | Promise<boolean>) => () => void;
    readonly sendNode: (node: BinaryNode) => Promise<void>;
  };
  get voip(): RealVoip;
}
