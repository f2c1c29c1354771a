import { withoutSecrets } from "../../provider-http/fault-text.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { type RealtimeFault, RealtimeLink, type RealtimeServer } from "./realtime-link.ts";

/** Events of a {@link ReconnectingLink}. */
export interface ReconnectingLinkListener {
  event(event: RealtimeEvent): void;
  /** Called when the connection is lost. @param isLast true if it is not replaced automatically */
  lost(fault: RealtimeFault, isLast: boolean): void;
  /** Called when a new connection has replaced it; the new one's server does not have the conversation. */
  replaced(): void;
  /** Called when the connection could not be replaced. */
  replacementFailed(error: Error): void;
}

/**
 * The connection of one conversation: it is attempted twice, replaced once if it breaks, and considered broken after a
 * long silence.
 */
export class ReconnectingLink {
  readonly #server: RealtimeServer;
  readonly #session: () => object;
  readonly #listener: ReconnectingLinkListener;
  #link: RealtimeLink | undefined;
  #replacement: Promise<void> | undefined;
  #isClosed = false;
  /** True after one failure since the latest success. */
  #hasFailedOnce = false;
  #timeout: ReturnType<typeof setTimeout> | undefined;

  /** @param session the first request on each connection */
  constructor(server: RealtimeServer, session: () => object, listener: ReconnectingLinkListener) {
    this.#server = server;
    this.#session = session;
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#link !== undefined;
  }

  /**
   * Connects. @throws {RealtimeFault} after the second attempt, or the first if its fault is permanent; or the signal's
   * reason
   */
  async open(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      await this.#connect();
    } catch (error) {
      signal.throwIfAborted();
      if ((error as RealtimeFault).isPermanent) throw error;
      await this.#connect();
    }
    signal.throwIfAborted();
  }

  /** Connects if there is no connection; resolves with true for a new one. @throws {RealtimeFault} */
  async reopen(): Promise<boolean> {
    await this.#replacement;
    if (this.isOpen) return false;
    await this.#connect();
    return true;
  }

  send(message: object | string): void {
    this.#link?.send(message);
  }

  /** Starts the timeout for a message that is due from the server. */
  expectMessage(): void {
    clearTimeout(this.#timeout);
    const { timeoutMs } = this.#server;
    this.#timeout = setTimeout(() => this.#link?.drop(`sent nothing for ${timeoutMs} ms`), timeoutMs);
  }

  /** Stops the timeout. */
  stopTimeout(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  }

  /** Counts a failure; returns true for the second one in a row. */
  recordFailure(): boolean {
    const hasFailedBefore = this.#hasFailedOnce;
    this.#hasFailedOnce = true;
    return hasFailedBefore;
  }

  /** Resets the failure count after a success. */
  recordSuccess(): void {
    this.#hasFailedOnce = false;
  }

  /** Returns the server's error as text without secrets. */
  faultText(problem: string): string {
    return withoutSecrets(`the model's server ${problem}`, this.#server.secrets);
  }

  /** Closes the connection; {@link reopen} connects again. */
  disconnect(): void {
    this.stopTimeout();
    this.#link?.close();
    this.#link = undefined;
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#isClosed = true;
    this.disconnect();
  }

  async #connect(): Promise<void> {
    const link = await RealtimeLink.open(this.#server, this.#session(), {
      event: (event) => {
        if (!this.#isClosed) this.#listener.event(event);
      },
      lost: (fault) => this.#handleLoss(fault),
    });
    if (this.#isClosed) link.close();
    else this.#link = link;
  }

  #handleLoss(fault: RealtimeFault): void {
    if (this.#isClosed) return;
    this.#link = undefined;
    this.stopTimeout();
    const isLast = this.recordFailure() || fault.isPermanent;
    this.#listener.lost(fault, isLast);
    if (!isLast) this.#replacement = this.#replace();
  }

  /** Replaces the connection; never rejects. */
  async #replace(): Promise<void> {
    try {
      await this.#connect();
      if (!this.#isClosed) this.#listener.replaced();
    } catch (error) {
      if (!this.#isClosed) this.#listener.replacementFailed(error as Error);
    } finally {
      this.#replacement = undefined;
    }
  }
}
