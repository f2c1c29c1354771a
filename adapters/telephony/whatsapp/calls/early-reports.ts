import type { CallListener, CallPort, VoipEvent } from "./call-port.ts";
import { isAboutCalls } from "./stanza.ts";

/** Most reports that are kept; those of one offer are few. */
const MOST = 64;

/** Keeps what the session reports while an offer is sent: the call has no id yet, and an answer may come before that. */
export class EarlyReports implements CallListener {
  readonly #reports: ((listener: CallListener) => void)[] = [];
  readonly #stop: () => void;

  constructor(port: CallPort) {
    this.#stop = port.listen(this);
  }

  /** Stops keeping, and passes everything on in its order. */
  passOn(listener: CallListener): void {
    this.stop();
    for (const report of this.#reports.splice(0)) report(listener);
  }

  stop(): void {
    this.#stop();
  }

  voip(event: VoipEvent): void {
    if (event.type === "error" || event.type === "inbound_audio") return;
    // The client changes the call in place.
    const { call } = event;
    const kept = {
      ...event,
      call: { ...call, callId: call.callId, peerJid: call.peerJid, stateData: { ...call.stateData } },
    };
    this.#keep((listener) => listener.voip(kept));
  }

  stanza(stanza: unknown): void {
    if (isAboutCalls(stanza)) this.#keep((listener) => listener.stanza(stanza));
  }

  lost(reason: string, final: boolean): void {
    this.#keep((listener) => listener.lost(reason, final));
  }

  restored(): void {
    this.#keep((listener) => listener.restored());
  }

  #keep(report: (listener: CallListener) => void): void {
    if (this.#reports.length < MOST) this.#reports.push(report);
  }
}
