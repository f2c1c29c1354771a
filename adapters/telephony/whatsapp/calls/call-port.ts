import type { DialError } from "../../../../src/ports/telephony.ts";
import type { WhatsAppCall, WhatsAppClient, WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import type { ResolvedNumber } from "./number-resolver.ts";

/** The part of a session that its call uses. */
export interface CallPort {
  /**
   * The connected client; undefined while there is none. Read it for every action, since a reconnect may replace it.
   */
  readonly client: WhatsAppClient | undefined;
  /** The call API of the client, even while its connection is down: audio takes another path. */
  readonly calls: WhatsAppVoip | undefined;
  readonly openCalls: OpenCallLog;
  /** The reason for which no offer may be sent to this callee now; undefined if it may. Called right before each offer. */
  offerBlock(callee: ResolvedNumber): Promise<DialError | undefined>;
  /** WhatsApp has refused an offer with this error, or has accepted it. */
  offerRefused(code: string): void;
  offerAccepted(): void;
  /** Passes reports to the listener until the returned function is called. */
  listen(listener: WhatsAppCallListener): () => void;
}

/** The calls whose callees may not know of their end: another connection, or another process, ends them. */
export interface OpenCallLog {
  /** An offer is being sent, or was sent, to the address `peer`; idempotent. @param creator address of the device that has sent it */
  add(callId: string, peer: string, creator: string): void;
  /** A device of the callee has accepted. */
  accepted(callId: string, device: string): void;
  /** Our terminate has been sent. It has not arrived if the connection turns out to be dead. */
  terminated(callId: string): void;
  /** The callee knows that the call has ended. */
  delete(callId: string): void;
  /** Ends the calls that no leg carries and the client does not have, if the client is connected. Never rejects. */
  end(): Promise<void>;
}

/** Receives the reports of a session. None of its methods may throw. */
export interface WhatsAppCallListener {
  /** The call that it carries; undefined before the client has named it. */
  readonly callId?: string | undefined;
  /** An event of the client's voip plugin. */
  voip(event: VoipEvent): void;
  /** An incoming stanza, before the client has handled it; not checked. */
  stanza(stanza: unknown): void;
  /** The connection was lost. `final`: it will not return for this call: unlinked, replaced, banned, closed. */
  lost(reason: string, final: boolean): void;
  /** The connection is about to be abandoned: hang up now. */
  end(reason: string): void;
  /** The connection is back. */
  restored(): void;
}

/** Events of the client's VoIP plugin that a call needs. */
export type VoipEvent =
  | { readonly type: "state" | "ended"; readonly call: WhatsAppCall }
  /** `pcm`: samples of 16 kHz, -1 to 1. */
  | { readonly type: "inbound_audio"; readonly call: WhatsAppCall; readonly pcm: Float32Array }
  | { readonly type: "error"; readonly error: unknown };
