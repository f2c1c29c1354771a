import type { CallPort, VoipEvent, WhatsAppCallListener } from "./call-port.ts";
import { isAboutCalls } from "./stanza.ts";
import { readVoipEvent } from "./voip-report.ts";

/** Maximum number of reports kept; an offer has few. */
const MAX_REPORTS = 64;

/**
 * Buffers the session's reports while an offer is being sent: the call has no id yet, and an answer may arrive before
 * one.
 */
export class EarlyReports implements WhatsAppCallListener {
  readonly #reports: ((listener: WhatsAppCallListener) => void)[] = [];
  readonly #stop: () => void;
  #isAbandoned = false;

  constructor(port: CallPort) {
    this.#stop = port.listen(this);
  }

  /** True if the session has abandoned the call permanently. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Stops buffering, and passes all reports on in order. */
  forwardTo(listener: WhatsAppCallListener): void {
    this.stop();
    for (const report of this.#reports.splice(0)) report(listener);
  }

  stop(): void {
    this.#stop();
  }

  voip(event: VoipEvent): void {
    const report = readVoipEvent(event); // a copy, because the client mutates the call
    if (report === undefined || report.type === "inbound_audio") return;
    const { type, callId, peerJid = "" } = report;
    const state = type === "ended" ? { state: "ended", endReason: report.reason ?? "" } : { state: report.state };
    const call = { callId, peerJid, direction: "outgoing", stateData: { ...state, audioMuted: false } };
    this.#buffer((listener) => listener.voip({ type, call }));
  }

  stanza(stanza: unknown): void {
    if (isAboutCalls(stanza)) this.#buffer((listener) => listener.stanza(stanza));
  }

  lost(reason: string, isPermanent: boolean): void {
    this.#isAbandoned ||= isPermanent;
    this.#buffer((listener) => listener.lost(reason, isPermanent));
  }

  /** Ends the call as soon as it has an id. */
  end(reason: string): void {
    this.lost(reason, true);
  }

  restored(): void {
    this.#buffer((listener) => listener.restored());
  }

  #buffer(report: (listener: WhatsAppCallListener) => void): void {
    if (this.#reports.length < MAX_REPORTS) this.#reports.push(report);
  }
}
