import type { ChannelLayout } from "./channel-layout.ts";
import { msToSamples, toSample } from "./pcm.ts";

/** Interval between decisions, ms. */
const BLOCK_MS = 50;
/** Length of the fade from one decision to another, ms. */
const FADE_MS = 5;
/** Energy of the mix, relative to independent channels, below which the channels cancel each other. */
const CANCELLED_SHARE = 0.2;
/** Energy of the mix above which the channels no longer cancel each other. */
const MIXED_SHARE = 0.4;
/** Mean square of a sample below which a channel is silent. */
const SILENCE = 4;

/** Channel index that represents the mix. */
const ALL = -1;

/**
 * Mixes channels into one. While channels cancel each other (a stereo file with one channel inverted is silent on one
 * loudspeaker), the loudest channel is heard alone. Decides every 50 ms, and fades from one decision to the next.
 */
export class MonoMix {
  readonly #layout: ChannelLayout;
  readonly #channels: number;
  readonly #block: Float32Array;
  readonly #fadeFrames: number;
  /** Number of values in the block. */
  #filledValues = 0;
  #hasStarted = false;
  /** The channel that is heard, or all. */
  #heardChannel = ALL;

  /** @param sampleRate Hz */
  constructor(layout: ChannelLayout, sampleRate: number) {
    this.#layout = layout;
    this.#channels = layout.shares.length;
    this.#block = new Float32Array(this.#channels === 1 ? 0 : msToSamples(BLOCK_MS, sampleRate) * this.#channels);
    this.#fadeFrames = msToSamples(FADE_MS, sampleRate);
  }

  /**
   * Adds whole frames of interleaved values (full scale -32,768 to 32,767) and returns the samples of all full blocks.
   */
  push(values: Float32Array): Int16Array<ArrayBuffer> {
    if (this.#channels === 1) return toSamples(values);
    const blocks = Math.floor((this.#filledValues + values.length) / this.#block.length);
    const samples = new Int16Array((blocks * this.#block.length) / this.#channels);
    let writtenCount = 0;
    for (let at = 0; at < values.length; ) {
      const piece = values.subarray(at, at + this.#block.length - this.#filledValues);
      this.#block.set(piece, this.#filledValues);
      this.#filledValues += piece.length;
      at += piece.length;
      if (this.#filledValues === this.#block.length) writtenCount += this.#mixBlock(samples, writtenCount);
    }
    return samples;
  }

  /** Returns the samples of the last, incomplete block. */
  flush(): Int16Array<ArrayBuffer> {
    const samples = new Int16Array(this.#filledValues / this.#channels);
    if (this.#filledValues > 0) this.#mixBlock(samples, 0);
    return samples;
  }

  /** Writes the block's samples and returns their number. */
  #mixBlock(samples: Int16Array, at: number): number {
    const frames = this.#filledValues / this.#channels;
    const previousChannel = this.#heardChannel;
    this.#heardChannel = this.#decide(frames);
    const fade = this.#hasStarted && previousChannel !== this.#heardChannel ? Math.min(this.#fadeFrames, frames) : 0;
    this.#hasStarted = true;
    for (let frame = 0; frame < frames; frame++) {
      let value = this.#value(frame, this.#heardChannel);
      if (frame < fade) value += (1 - frame / fade) * (this.#value(frame, previousChannel) - value);
      samples[at + frame] = toSample(value);
    }
    this.#filledValues = 0;
    return frames;
  }

  #value(frame: number, heardChannel: number): number {
    const offset = frame * this.#channels;
    if (heardChannel !== ALL) return this.#block[offset + heardChannel]!;
    let sum = 0;
    for (let channel = 0; channel < this.#channels; channel++)
      sum += this.#block[offset + channel]! * this.#layout.shares[channel]!;
    return sum;
  }

  #decide(frames: number): number {
    const { shares, spareChannel } = this.#layout;
    const mixEnergy = this.#energy(ALL, frames);
    let independentEnergy = 0;
    let loudestChannel = ALL;
    let maxEnergy = SILENCE * frames;
    for (let channel = 0; channel < this.#channels; channel++) {
      const energy = this.#energy(channel, frames);
      independentEnergy += energy * shares[channel]! ** 2;
      if (energy <= maxEnergy || shares[channel] === 0) continue;
      maxEnergy = energy;
      loudestChannel = channel;
    }
    if (loudestChannel === ALL) {
      const isHeard = spareChannel !== undefined && this.#energy(spareChannel, frames) > SILENCE * frames;
      return isHeard ? spareChannel : this.#heardChannel;
    }
    const share = mixEnergy / independentEnergy;
    if (share > MIXED_SHARE) return ALL;
    if (share > CANCELLED_SHARE && this.#heardChannel === ALL) return ALL;
    // Two channels of equal level must not alternate.
    const isLoud = this.#heardChannel !== ALL && this.#energy(this.#heardChannel, frames) > maxEnergy / 4;
    return isLoud ? this.#heardChannel : loudestChannel;
  }

  /** Sum of the squares of a channel or of the mix, without a constant offset. */
  #energy(channel: number, frames: number): number {
    let sum = 0;
    let squares = 0;
    for (let frame = 0; frame < frames; frame++) {
      const value = this.#value(frame, channel);
      sum += value;
      squares += value * value;
    }
    return squares - (sum * sum) / frames;
  }
}

/** Rounds and clips each value; `Int16Array.from` takes twenty times as long. */
function toSamples(values: Float32Array): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(values.length);
  for (let i = 0; i < values.length; i++) samples[i] = toSample(values[i]!);
  return samples;
}
