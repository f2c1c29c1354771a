import type { DialError } from "../../../../src/ports/telephony.ts";
import type { WhatsAppCall, WhatsAppClient, WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import type { ResolvedNumber } from "./number-resolver.ts";

/** The part of a session that its call uses. */
export interface CallPort {
  /**
   * The connected client; undefined while there is none. Read it for every action, since a reconnect may replace it.
   */
  readonly client: WhatsAppClient | undefined;
  /** The client's call API, even while its connection is down: audio takes another path. */
  readonly calls: WhatsAppVoip | undefined;
  readonly openCalls: OpenCallLog;
  /**
   * The reason why no offer may be sent to this callee now; undefined if it may be sent. Called right before each
   * offer.
   */
  offerBlock(callee: ResolvedNumber): Promise<DialError | undefined>;
  /** Called when WhatsApp has refused an offer with this error, or has accepted an offer. */
  offerRefused(code: string): void;
  offerAccepted(): void;
  /** Passes reports to the listener until the returned function is called. */
  listen(listener: WhatsAppCallListener): () => void;
}

/** Calls whose callees may not know that they have ended: another connection, or another process, ends them. */
export interface OpenCallLog {
  /**
   * Adds a call whose offer is being sent, or has been sent, to the address `peer`. Idempotent.
   * @param creator address of the device that sent it
   */
  add(callId: string, peer: string, creator: string): void;
  /** Records that one of the callee's devices has accepted. */
  recordAcceptance(callId: string, device: string): void;
  /** Records that our terminate has been sent. If the connection turns out to be dead, it did not arrive. */
  recordTermination(callId: string): void;
  /** Removes a call whose callee knows that it has ended. */
  delete(callId: string): void;
  /** Ends the calls that no leg carries and the client does not have, if the client is connected. Never rejects. */
  end(): Promise<void>;
}

/** Receives a session's reports. None of its methods may throw. */
export interface WhatsAppCallListener {
  /** The listener's call; undefined before the client has named it. */
  readonly callId?: string | undefined;
  /** An event of the client's voip plugin. */
  voip(event: VoipEvent): void;
  /** An incoming stanza, before the client has handled it; not checked. */
  stanza(stanza: unknown): void;
  /** The connection has been lost. `isPermanent`: permanently for this call (unlinked, replaced, banned or closed). */
  lost(reason: string, isPermanent: boolean): void;
  /** The connection is about to be abandoned: hang up now. */
  end(reason: string): void;
  /** The connection is back. */
  restored(): void;
}

/** Events of the client's VoIP plugin that a call needs. */
export type VoipEvent =
  | { readonly type: "state" | "ended"; readonly call: WhatsAppCall }
  /** `pcm`: samples at 16 kHz, from -1 to 1. */
  | { readonly type: "inbound_audio"; readonly call: WhatsAppCall; readonly pcm: Float32Array }
  | { readonly type: "error"; readonly error: unknown };
