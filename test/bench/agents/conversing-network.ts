import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711.ts";
import { msToSamples, rms } from "../../../src/audio/samples/pcm.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { Leg, Telephony } from "../../../src/ports/telephony.ts";
import { withLegs } from "../harness/legs.ts";

/** A sample above this is audible. */
const AUDIBLE = 300;
/** RMS above which a frame of the callee is voice. */
const VOICED = 300;
/** Time after which a callee interrupts the agent, and time that another waits after the agent's words, ms. */
const INTERRUPTS_AFTER_MS = 700;
const ANSWERS_AFTER_MS = 400;
/** Maximum random addition, so that calls do not run in step, ms. */
const CHANCE_MS = 300;

/** Measurements on the legs, ms by this process's clock. */
export interface Conversations {
  /** Each turn of a callee, in the order of its call: the time when its last frame of voice was passed to the core, and the time when the leg read the first audible frame of the reply. */
  readonly turns: { readonly callId: string; readonly endedAt: number; readonly heardAt: number }[];
  /** Time from the beginning of the callee's voice to the last audible frame of the interrupted agent. */
  readonly interruptions: number[];
}

/**
 * A network whose callees converse: they wait for the agent's words, and reply with a sentence, or interrupt them every n-th time. All audio is coded and decoded as G.711, as on a trunk.
 */
export class ConversingNetwork implements Conversations {
  readonly turns: Conversations["turns"] = [];
  readonly interruptions: number[] = [];
  readonly #voice: Int16Array;
  readonly #interruptsEvery: number;

  /** @param voice the sentence, at the legs' rate; silence around it is cut off */
  constructor(voice: Int16Array, sampleRate: number, interruptsEvery: number) {
    this.#voice = trimmed(voice, msToSamples(20, sampleRate));
    this.#interruptsEvery = interruptsEvery;
  }

  /** The network, with callees that converse. */
  of(network: Telephony): Telephony {
    return withLegs(network, (leg, callId) => {
      const connect = leg.connectMedia.bind(leg);
      leg.connectMedia = (source, sink) => {
        const callee = new Callee(this, callId, this.#voice, leg, this.#interruptsEvery);
        connect(callee.listening(source), callee.speaking(sink));
      };
    });
  }
}

/** One callee, driven by the frames of its leg. */
class Callee {
  readonly #seen: Conversations;
  readonly #callId: string;
  readonly #voice: Int16Array;
  readonly #frameMs: number;
  readonly #interruptsEvery: number;
  readonly #codes: Uint8Array;
  /** Position in the sentence; undefined while it is not spoken. */
  #at: number | undefined;
  /** Number of replies heard. */
  #replies = 0;
  #agentSpeaks = false;
  #agentMs = 0;
  #quietMs = 0;
  #waitMs = 0;
  #lastAudibleAt = 0;
  #beganAt = 0;
  #endedAt = 0;
  #interrupting = false;

  constructor(seen: Conversations, callId: string, voice: Int16Array, leg: Leg, interruptsEvery: number) {
    this.#seen = seen;
    this.#callId = callId;
    this.#voice = voice;
    this.#frameMs = leg.frameMs;
    this.#interruptsEvery = interruptsEvery;
    this.#codes = new Uint8Array(msToSamples(leg.frameMs, leg.sampleRate));
  }

  listening(source: FrameSource): FrameSource {
    return {
      read: (frame) => {
        const count = source.read(frame);
        if (count > 0) {
          encodeMulaw(frame, this.#codes);
          decodeMulaw(this.#codes, frame);
        }
        this.#hear(frame);
        return count;
      },
    };
  }

  speaking(sink: FrameSink): FrameSink {
    return {
      write: (frame) => {
        this.#speak(frame);
        sink.write(frame);
      },
    };
  }

  #hear(frame: Int16Array): void {
    if (!isAudible(frame)) {
      this.#quietMs += this.#frameMs;
      return;
    }
    this.#lastAudibleAt = performance.now();
    this.#quietMs = 0;
    this.#agentMs += this.#frameMs;
    if (this.#agentSpeaks) return;
    this.#agentSpeaks = true;
    this.#agentMs = 0;
    this.#replies++;
    this.#interrupting = this.#replies % this.#interruptsEvery === 0;
    this.#waitMs = (this.#interrupting ? INTERRUPTS_AFTER_MS : ANSWERS_AFTER_MS) + Math.random() * CHANCE_MS;
    if (this.#endedAt > 0)
      this.#seen.turns.push({ callId: this.#callId, endedAt: this.#endedAt, heardAt: this.#lastAudibleAt });
    this.#endedAt = 0;
  }

  #speak(frame: Int16Array): void {
    if (this.#at === undefined) {
      const waited = this.#interrupting ? this.#agentMs : this.#quietMs;
      if (!this.#agentSpeaks || waited < this.#waitMs) return;
      this.#at = 0;
      this.#beganAt = performance.now() - this.#frameMs;
    }
    const part = this.#voice.subarray(this.#at, this.#at + frame.length);
    frame.set(part);
    this.#at += frame.length;
    encodeMulaw(frame, this.#codes);
    decodeMulaw(this.#codes, frame);
    if (this.#at < this.#voice.length) return;
    this.#at = undefined;
    this.#agentSpeaks = false;
    this.#endedAt = performance.now();
    if (this.#interrupting) this.#seen.interruptions.push(this.#lastAudibleAt - this.#beganAt);
  }
}

function isAudible(frame: Int16Array): boolean {
  for (let at = 0; at < frame.length; at++) if (Math.abs(frame[at]!) > AUDIBLE) return true;
  return false;
}

/** Number of whole frames from the first one with voice to the last one. */
function trimmed(voice: Int16Array, frame: number): Int16Array {
  let from = 0;
  let to = Math.floor(voice.length / frame) * frame;
  while (from < to && rms(voice.subarray(from, from + frame)) < VOICED) from += frame;
  while (to > from && rms(voice.subarray(to - frame, to)) < VOICED) to -= frame;
  return voice.slice(from, to);
}
