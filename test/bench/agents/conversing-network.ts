import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { msToSamples, rms } from "../../../src/audio/samples/pcm.ts";
import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { Leg, Telephony } from "../../../src/ports/telephony.ts";
import { withLegs } from "../harness/legs.ts";

/** A sample above this is audible. */
const AUDIBLE_PEAK = 300;
/** RMS above which a callee's frame is voice. */
const VOICED = 300;
/** Time after which a callee interrupts the agent, and time between the agent's words and a reply, ms. */
const INTERRUPTS_AFTER_MS = 700;
const ANSWERS_AFTER_MS = 400;
/** Maximum random addition, which keeps calls from being synchronised, ms. */
const MAX_JITTER_MS = 300;

/** Measurements on the legs, ms by this process's clock. */
export interface Conversations {
  /**
   * The callees' turns: when the last frame of voice was passed to the core, and when the leg read the first audible
   * frame of the reply.
   */
  readonly turns: { readonly callId: string; readonly endedAt: number; readonly heardAt: number }[];
  /** Time from the beginning of the callee's voice to the last audible frame of the interrupted agent. */
  readonly interruptions: number[];
}

/**
 * A network whose callees converse: they reply to the agent with a sentence, and interrupt every n-th reply. All audio is coded and decoded as G.711, as on a trunk.
 */
export class ConversingNetwork implements Conversations {
  readonly turns: Conversations["turns"] = [];
  readonly interruptions: number[] = [];
  readonly #voice: Int16Array;
  readonly #interruptsEvery: number;

  /** @param voice the sentence, at the legs' rate; silence around it is cut off */
  constructor(voice: Int16Array, sampleRate: number, interruptsEvery: number) {
    this.#voice = trimSilence(voice, msToSamples(20, sampleRate));
    this.#interruptsEvery = interruptsEvery;
  }

  /** The network, with callees that converse. */
  withCallees(network: Telephony): Telephony {
    return withLegs(network, (leg, callId) => {
      const connect = leg.connectMedia.bind(leg);
      leg.connectMedia = (source, sink) => {
        const callee = new Callee(this, callId, this.#voice, leg, this.#interruptsEvery);
        connect(callee.listening(source), callee.speakingSink(sink));
      };
    });
  }
}

/** One callee, driven by its leg's frames. */
class Callee {
  readonly #conversations: Conversations;
  readonly #callId: string;
  readonly #voice: Int16Array;
  readonly #frameMs: number;
  readonly #interruptsEvery: number;
  readonly #codes: Uint8Array;
  /** Position in the sentence; undefined between utterances. */
  #position: number | undefined;
  /** Number of replies heard so far. */
  #replyCount = 0;
  #isAgentSpeaking = false;
  #agentMs = 0;
  #quietMs = 0;
  #waitMs = 0;
  #lastAudibleAt = 0;
  #beganAt = 0;
  #endedAt = 0;
  #isInterrupting = false;

  constructor(conversations: Conversations, callId: string, voice: Int16Array, leg: Leg, interruptsEvery: number) {
    this.#conversations = conversations;
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

  speakingSink(sink: FrameSink): FrameSink {
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
    if (this.#isAgentSpeaking) return;
    this.#isAgentSpeaking = true;
    this.#agentMs = 0;
    this.#replyCount++;
    this.#isInterrupting = this.#replyCount % this.#interruptsEvery === 0;
    this.#waitMs = (this.#isInterrupting ? INTERRUPTS_AFTER_MS : ANSWERS_AFTER_MS) + Math.random() * MAX_JITTER_MS;
    if (this.#endedAt > 0)
      this.#conversations.turns.push({ callId: this.#callId, endedAt: this.#endedAt, heardAt: this.#lastAudibleAt });
    this.#endedAt = 0;
  }

  #speak(frame: Int16Array): void {
    if (this.#position === undefined) {
      const waitedMs = this.#isInterrupting ? this.#agentMs : this.#quietMs;
      if (!this.#isAgentSpeaking || waitedMs < this.#waitMs) return;
      this.#position = 0;
      this.#beganAt = performance.now() - this.#frameMs;
    }
    const part = this.#voice.subarray(this.#position, this.#position + frame.length);
    frame.set(part);
    this.#position += frame.length;
    encodeMulaw(frame, this.#codes);
    decodeMulaw(this.#codes, frame);
    if (this.#position < this.#voice.length) return;
    this.#position = undefined;
    this.#isAgentSpeaking = false;
    this.#endedAt = performance.now();
    if (this.#isInterrupting) this.#conversations.interruptions.push(this.#lastAudibleAt - this.#beganAt);
  }
}

function isAudible(frame: Int16Array): boolean {
  for (let i = 0; i < frame.length; i++) if (Math.abs(frame[i]!) > AUDIBLE_PEAK) return true;
  return false;
}

/** The whole frames from the first to the last with voice. */
function trimSilence(voice: Int16Array, frame: number): Int16Array {
  let start = 0;
  let end = Math.floor(voice.length / frame) * frame;
  while (start < end && rms(voice.subarray(start, start + frame)) < VOICED) start += frame;
  while (end > start && rms(voice.subarray(end - frame, end)) < VOICED) end -= frame;
  return voice.slice(start, end);
}
