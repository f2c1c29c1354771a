import type { MediaClock } from "../../../../src/audio/playout/media-clock.ts";
import { errorText } from "../../../../src/base/error.ts";
import { Queue } from "../../../../src/base/queue.ts";
import type { FrameSink, FrameSource } from "../../../../src/ports/media.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { Deadlines, DialProgress, Leg, LegEvent, MediaStatistics } from "../../../../src/ports/telephony.ts";
import type { WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import { progressOf } from "./call-ends.ts";
import type { CallPort, VoipEvent, WhatsAppCallListener } from "./call-port.ts";
import type {
  CallDecision,
  CallEnd,
  CallInput,
  CallTimer,
  WhatsAppCallEffect,
  WhatsAppCallFlow,
} from "./call-states.ts";
import { endAtClient } from "./end-at-client.ts";
import { isConnected } from "./is-connected.ts";
import { CallUnknown } from "./outbound-audio.ts";
import { endsForCallee, readCallStanza } from "./stanza.ts";
import { readVoipEvent } from "./voip-report.ts";
import { WhatsAppCallAudio } from "./whatsapp-call-audio.ts";
import { decideCall, newCall } from "./whatsapp-call-flow.ts";
import { SAMPLE_RATE, WHATSAPP_FRAME_MS } from "./whatsapp-frame.ts";

/** Time limit for the client to end a call, ms: the core waits 5 s, and the buffer is emptied first. */
export const END_MS = 4_000;

/** Options of {@link WhatsAppLeg}. */
export interface WhatsAppLegOptions {
  /** The client's call id. */
  readonly callId: string;
  /** Address that the client called. */
  readonly peerJid: string;
  /** The address for the form of the number that is registered on WhatsApp. */
  readonly resolvedAddress: string;
  readonly port: CallPort;
  readonly system: System;
  readonly clock: MediaClock;
  readonly deadlines: Deadlines;
  /** Called when the leg has ended. */
  readonly onEnded: () => void;
}

/** One call over a linked device: carries out what {@link decideCall} decides. */
export class WhatsAppLeg implements Leg, WhatsAppCallListener {
  readonly sampleRate: number = SAMPLE_RATE;
  readonly frameMs: number = WHATSAPP_FRAME_MS;
  readonly watchesLine: boolean = true;
  readonly events: Queue<LegEvent> = new Queue();
  readonly callId: string;
  readonly #options: WhatsAppLegOptions;
  readonly #audio: WhatsAppCallAudio;
  readonly #timers = new Map<CallTimer, () => void>();
  readonly #conclusion = Promise.withResolvers<void>();
  #stopListening: () => void = () => {};
  #cancelEnd: () => void = () => {};
  /** True if the callee's devices know that the call has ended, or never had the offer. */
  #calleeKnowsEnd = false;
  /** Address of the callee, as the client knows it. */
  #peerJid: string;
  #flow: WhatsAppCallFlow;

  constructor(options: WhatsAppLegOptions) {
    const { callId, port, system, clock, deadlines } = options;
    this.#options = options;
    this.callId = callId;
    this.#peerJid = options.peerJid;
    this.#audio = new WhatsAppCallAudio({
      ...{ callId, system, clock, deadlines },
      voip: () => this.#voip,
      onStarted: () => this.events.push({ type: "connected" }),
      onDrained: () => this.#handle({ type: "drained" }),
      onError: (fault) => this.#audioFailed(fault),
    });
    const { flow, effects } = newCall();
    this.#flow = flow;
    this.#carryOut(effects);
    this.#useExternalAudio();
    this.#stopListening = port.listen(this);
  }

  /** True if the call has not ended. */
  get isLive(): boolean {
    return this.#flow.state !== "ended";
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    this.#audio.connect(source, sink);
  }

  /** Plays the keys as tones; the source waits in the meantime. Rejects with a RangeError for other characters. */
  async sendDtmf(digits: string): Promise<void> {
    await this.#audio.press(digits);
  }

  progress(): DialProgress {
    return progressOf(this.#flow.hasAlerted);
  }

  statistics(): MediaStatistics | null {
    return this.#audio.statistics;
  }

  hangUp(): Promise<void> {
    this.#handle({ type: "hang_up" });
    return this.#conclusion.promise;
  }

  /** @internal called by the session */
  voip(event: VoipEvent): void {
    const report = readVoipEvent(event);
    if (report === undefined || report.callId !== this.callId) return;
    this.#peerJid = report.peerJid ?? this.#peerJid;
    if (report.type === "inbound_audio") this.#audio.receive(report.pcm);
    else if (report.type === "ended") {
      // If we requested the end, the client reports it before it has sent the terminate.
      this.#calleeKnowsEnd ||= this.#flow.state !== "ending";
      this.#handle({ type: "client_ended", reason: report.reason });
    } else this.#handle({ type: "client_state", state: report.state });
  }

  /** @internal called by the session */
  stanza(stanza: unknown): void {
    const addresses = [this.#peerJid, this.#options.peerJid, this.#options.resolvedAddress];
    const callStanza = readCallStanza(stanza, { callId: this.callId, addresses });
    if (callStanza === undefined) return;
    this.#calleeKnowsEnd ||= endsForCallee(callStanza);
    if (callStanza.type === "offer_refused" && this.#flow.state === "offered")
      this.#options.port.offerRefused(callStanza.code);
    if (callStanza.type === "offer_accepted") this.#options.port.offerAccepted();
    if (callStanza.type === "accept" && callStanza.address !== undefined)
      this.#options.port.openCalls.recordAcceptance(this.callId, callStanza.address);
    this.#handle({ type: "stanza", stanza: callStanza });
  }

  /** @internal called by the session */
  lost(reason: string, isPermanent: boolean): void {
    this.#handle({ type: "line_lost", reason, isPermanent });
  }

  /** @internal called by the session */
  end(reason: string): void {
    this.#handle({ type: "line_ending", reason });
  }

  /** @internal called by the session */
  restored(): void {
    this.#handle({ type: "line_restored", hasCall: this.#clientHasCall });
  }

  /** The client's call API: a different object after a reconnect, and missing during one. */
  get #voip(): WhatsAppVoip | undefined {
    try {
      return this.#options.port.calls ?? undefined;
    } catch {
      return undefined;
    }
  }

  get #clientHasCall(): boolean {
    try {
      return (this.#voip?.getCall(this.callId) ?? null) !== null;
    } catch {
      return false;
    }
  }

  #audioFailed(fault: unknown): void {
    if (fault instanceof CallUnknown && !this.#clientHasCall) this.#handle({ type: "line_restored", hasCall: false });
    else this.#handle({ type: "fault", detail: errorText(fault) });
  }

  /** Makes the client send our frames instead of a microphone's. */
  #useExternalAudio(): void {
    try {
      this.#voip?.setExternalAudioMode(this.callId, true);
    } catch (fault) {
      this.#handle({ type: "fault", detail: errorText(fault) });
    }
  }

  #handle(input: CallInput): void {
    const { flow, effects }: CallDecision = decideCall(this.#flow, input);
    this.#flow = flow;
    this.#carryOut(effects);
  }

  #carryOut(effects: readonly WhatsAppCallEffect[]): void {
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: WhatsAppCallEffect): void {
    switch (effect.do) {
      case "emit":
        this.events.push(effect.event);
        if (effect.event.type === "placed") this.#reportAddress();
        break;
      case "start_timer":
        this.#stopTimer(effect.timer);
        this.#timers.set(
          effect.timer,
          this.#options.system.after(effect.ms, () => this.#fire(effect.timer)),
        );
        break;
      case "stop_timer":
        this.#stopTimer(effect.timer);
        break;
      case "start_audio":
        this.#audio.start();
        break;
      case "hold_audio":
        this.#audio.hold(effect.onHold);
        break;
      case "drain":
        this.#audio.drain();
        break;
      case "end_call":
        this.#audio.stop();
        this.#endCall();
        break;
      case "conclude":
        this.#conclude(effect.end);
    }
  }

  #reportAddress(): void {
    const data = { resolved_address: this.#options.resolvedAddress };
    this.events.push({ type: "noted", fact: { event: "address_resolved", data } });
  }

  #fire(timer: CallTimer): void {
    this.#timers.delete(timer);
    this.#handle({ type: "timer", timer, quietMs: this.#audio.quietMs });
  }

  #stopTimer(timer: CallTimer): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
  }

  /** Ends the call, even if the client hangs, rejects, throws or is closed. */
  #endCall(): void {
    const onReleased = (): void => this.#handle({ type: "released" });
    this.#cancelEnd = this.#options.system.after(END_MS, onReleased);
    // The client forgets a call whose terminate it cannot send, so the session ends the call once the connection is
    // back.
    const end = async (): Promise<void> => {
      const { client } = this.#options.port;
      if (!isConnected(client) || this.#voip === undefined) return;
      const hasLeft = await endAtClient(client, this.#voip, this.callId);
      if (hasLeft) this.#options.port.openCalls.recordTermination(this.callId);
    };
    // The client reports the end before it sends the terminate: only its promise means that it was sent.
    Promise.resolve().then(end).then(onReleased, onReleased);
  }

  #conclude(end: CallEnd): void {
    if (this.#calleeKnowsEnd) this.#options.port.openCalls.delete(this.callId);
    this.#stopListening();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#cancelEnd();
    this.#audio.stop();
    this.events.push({ type: "ended", ...end });
    this.events.close();
    this.#options.onEnded();
    this.#conclusion.resolve();
  }
}
