import type { Page } from "playwright-core";
import type { Sound } from "../../../support/server-sound.ts";

/** Records the speakers' output: everything connected to the destination of an audio context is also connected here. */
const TAP = `{
  const connect = AudioNode.prototype.connect;
  const taps = new WeakMap();
  globalThis.playedForTest = { sampleRate: 48000, pieces: [] };
  AudioNode.prototype.connect = function (target, ...more) {
    if (target instanceof AudioDestinationNode && !(this instanceof ScriptProcessorNode)) {
      const { context } = this;
      if (!taps.has(context)) {
        const tap = context.createScriptProcessor(4096, 1, 1);
        tap.onaudioprocess = ({ inputBuffer }) => {
          playedForTest.sampleRate = inputBuffer.sampleRate;
          playedForTest.pieces.push(inputBuffer.getChannelData(0).slice());
        };
        connect.call(tap, context.destination);
        taps.set(context, tap);
      }
      connect.call(this, taps.get(context));
    }
    return connect.call(this, target, ...more);
  };
}`;

/** Output since the last call, as 16-bit samples in base64: an array of numbers would take seconds. */
const TAKE = `(() => {
  const { pieces, sampleRate } = playedForTest;
  const samples = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) for (const sample of piece) samples[at++] = Math.max(-1, Math.min(1, sample)) * 32767;
  pieces.length = 0;
  const bytes = new Uint8Array(samples.buffer);
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return { sampleRate, base64: btoa(text) };
})()`;

/** The speakers of a page, from its next load on. */
export class Speakers {
  readonly #page: Page;
  #bytes: Buffer = Buffer.alloc(0);
  #sampleRate = 48_000;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async of(page: Page): Promise<Speakers> {
    await page.addInitScript(TAP);
    return new Speakers(page);
  }

  /** The samples played since {@link forget}. */
  async takeSound(): Promise<Sound> {
    const { sampleRate, base64 } = await this.#page.evaluate<{ sampleRate: number; base64: string }>(TAKE);
    this.#sampleRate = sampleRate;
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(base64, "base64")]);
    const { length } = this.#bytes;
    const samples = Int16Array.from({ length: length / 2 }, (_, i) => this.#bytes.readInt16LE(2 * i));
    return { sampleRate: this.#sampleRate, samples };
  }

  async forget(): Promise<void> {
    await this.takeSound();
    this.#bytes = Buffer.alloc(0);
  }
}
