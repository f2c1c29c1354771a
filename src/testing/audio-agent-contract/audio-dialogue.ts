import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "../../audio/samples/g711-companding.ts";
import { pcmFromBytes, pcmToBytes } from "../../audio/samples/pcm.ts";
import { resample } from "../../audio/samples/resample.ts";
import {
  type AudioAgent,
  type AudioAgentEvent,
  type AudioConversation,
  type AudioFormat,
  FORMAT_RATES,
} from "../../ports/audio-conversation.ts";
import type { AgentBrief } from "../../ports/conversation.ts";
import type { PcmChunk } from "../../ports/media.ts";
import type { AudioAgentUnderTest } from "../audio-agent-contract.ts";
import { settledWithin, until } from "../waiting.ts";
import { eventFault } from "./event-fault.ts";

/** Maximum time for an agent to complete its actions, ms. */
const REPLY_MS = 20_000;
/** Silence after which every agent has detected the end of a turn, ms. */
const PAUSE_MS = 2_000;
/** Filler for a reused array, which agents must no longer read. */
const FILLER = 0x55;

/** One conversation as seen by the core: the agent's events so far, and the callee's actions. */
export class AudioDialogue {
  readonly conversation: AudioConversation;
  readonly events: AudioAgentEvent[] = [];
  /** Ends the call. */
  readonly scope: AbortController;
  /** Resolves after the last event. */
  readonly end: Promise<void>;
  /** Forbidden action of the agent; undefined if there is none. */
  fault: string | undefined;
  #format: AudioFormat = "pcm";
  #watch: (event: AudioAgentEvent) => void = () => {};

  /** Opens a conversation. */
  static async open(
    { agent, instructions }: Pick<AudioAgentUnderTest, "instructions"> & { readonly agent: AudioAgent },
    brief: Partial<AgentBrief> = {},
  ): Promise<AudioDialogue> {
    const scope = new AbortController();
    const opening = agent.open(
      { callId: "call_contract", instructions, language: "en-US", hearsWords: false, ...brief },
      scope.signal,
    );
    return new AudioDialogue(await settledWithin(REPLY_MS, "The conversation is opened", opening), scope);
  }

  private constructor(conversation: AudioConversation, scope: AbortController) {
    this.conversation = conversation;
    this.scope = scope;
    this.end = this.#read();
  }

  /** Makes the callee answer. */
  answer(format: AudioFormat = "pcmu"): void {
    this.#format = format;
    this.conversation.answered(format);
  }

  /** Makes the callee speak, then be silent. */
  say({ samples, sampleRate }: PcmChunk): void {
    const rate = FORMAT_RATES[this.#format];
    this.#sendFrames(new Int16Array(rate / 2));
    this.#sendFrames(resample(samples, sampleRate, rate));
    this.#sendFrames(new Int16Array((PAUSE_MS / 1_000) * rate));
  }

  /** Resolves once the agent has emitted this number of events of a type. */
  async until(type: AudioAgentEvent["type"], count = 1): Promise<void> {
    await until(REPLY_MS, `${count} times ${type}`, () => this.fault !== undefined || this.count(type) >= count).catch(
      (error: Error) => {
        throw new Error(`${error.message}; the agent emitted: ${this.events.map(({ type }) => type).join(", ")}`);
      },
    );
  }

  /** The next event of a type, as soon as it arrives. */
  next<Type extends AudioAgentEvent["type"]>(type: Type): Promise<Extract<AudioAgentEvent, { type: Type }>> {
    const nextEvent = new Promise<Extract<AudioAgentEvent, { type: Type }>>((resolve) => {
      this.#watch = (event) => {
        if (event.type === type) resolve(event as Extract<AudioAgentEvent, { type: Type }>);
      };
    });
    return settledWithin(REPLY_MS, `The next ${type}`, nextEvent);
  }

  count(type: AudioAgentEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** All samples that the agent has sent since an event. */
  samples(since = 0): Int16Array {
    const pieces = this.events.slice(since).flatMap((event) => (event.type === "audio" ? [event.bytes] : []));
    const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    if (this.#format === "pcm") return pcmFromBytes(bytes);
    return this.#format === "pcmu" ? decodeMulaw(bytes) : decodeAlaw(bytes);
  }

  /** Length of the agent's speech since an event, ms. */
  spokenMs(since = 0): number {
    return (this.samples(since).length * 1_000) / FORMAT_RATES[this.#format];
  }

  async #read(): Promise<void> {
    for await (const event of this.conversation.events) {
      this.fault ??= eventFault(event, this.events, this.#format);
      this.events.push(event);
      this.#watch(event);
    }
  }

  /** Frames of 20 ms, in one reused array. */
  #sendFrames(samples: Int16Array): void {
    const length = FORMAT_RATES[this.#format] / 50;
    const frame = new Uint8Array(this.#format === "pcm" ? 2 * length : length);
    for (let at = 0; at + length <= samples.length; at += length) {
      const part = samples.subarray(at, at + length);
      if (this.#format === "pcm") frame.set(pcmToBytes(part));
      else frame.set(this.#format === "pcmu" ? encodeMulaw(part) : encodeAlaw(part));
      this.conversation.hear(frame);
    }
    frame.fill(FILLER);
  }
}
