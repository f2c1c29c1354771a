import { nextTurn } from "../base/turn-budget.ts";
import { AudioUnsupported, type IgnoredBytes, type Mp3Stream } from "../ports/audio-decoder.ts";
import type { PcmChunk } from "../ports/media.ts";
import { AudioFormatError } from "./audio-format-error.ts";
import { ByteAccount } from "./byte-account.ts";
import { NotAudio } from "./not-audio.ts";
import { samplesToMs } from "./samples/pcm.ts";
import { PcmByteStream } from "./samples/pcm-byte-stream.ts";
import { type StreamEncoding, sampleCoding } from "./samples/stream-format.ts";
import { AudioOpening, fileRefusal, type IncomingFormat } from "./sniffing/audio-opening.ts";
import { CodedAudioWatch } from "./sniffing/coded-audio-watch.ts";
import { foreignName } from "./sniffing/foreign-name.ts";
import { namedFile } from "./sniffing/named-file.ts";
import { namedText } from "./sniffing/named-text.ts";
import { WavDecoder } from "./wav/wav.ts";
import { wavBodyAt, waveIn } from "./wav/wav-chunks.ts";

/** Options of {@link IncomingAudio}. */
export interface IncomingAudioOptions {
  /**
   * Encoding of the bytes. Default: detected from the first bytes. An MP3 starts with an ID3 tag or a frame; everything
   * else is PCM.
   */
  readonly encoding: StreamEncoding | undefined;
  /** Sample rate of PCM, mu-law and A-law, Hz; an MP3 and a WAV file state their own. */
  readonly sampleRate: number;
  /** Opens a decoder. Undefined if MP3 cannot be decoded. */
  readonly mp3: (() => Promise<Mp3Stream>) | undefined;
  /** The accepted audio, as named in errors. Default: all formats of a stream. */
  readonly accepts?: string | undefined;
  /** False to decode the first bytes at once, in the stated encoding. Default: true. */
  readonly isHeldBack?: boolean | undefined;
  /**
   * Resolves when there is room for this much audio, ms; returns undefined if there is room now. Default: always now.
   */
  readonly waitForRoom?: ((ms: number) => Promise<void> | undefined) | undefined;
  /** Receives the decoded samples, mono; the array is not reused. */
  readonly onDecoded: (samples: Int16Array, sampleRate: number) => void;
}

export { NotAudio };

/** Number of bytes of MP3 that are decoded in one turn of the event loop: a few milliseconds of work. */
const TURN_BYTES = 4096;
/** Number of bytes that are decoded before room is checked again: 2 s of mu-law at 8 kHz. */
const SLICE_BYTES = 16_384;
/** Maximum room that a slice needs, ms: MP3 at 8 kbit/s. */
const SLICE_MS = 5_000;
/** Length above which a message is decoded in slices, ms. */
const MAX_WHOLE_MS = 50_000;

/**
 * Decodes audio that arrives in messages of any size; the samples do not depend on how the messages are cut.
 *
 * A WAV file may start anywhere, and is decoded according to its header. Text, other files, and an MP3 instead of
 * samples are rejected, and named, if a message starts with them. Only the first 12 bytes (see {@link AudioOpening}),
 * half a sample, and an incomplete MP3 frame are held back.
 */
export class IncomingAudio {
  readonly #options: IncomingAudioOptions;
  #opening: AudioOpening | undefined;
  /** The format of the next bytes; undefined until it is known. */
  #format: IncomingFormat | undefined;
  #pcm = new PcmByteStream();
  #wav: WavDecoder | undefined;
  #mp3: Mp3Stream | undefined;
  #watch = new CodedAudioWatch();
  #isFirstMessage = true;
  /** Ignored bytes, by reason. */
  readonly #ignoredBytes = new ByteAccount();
  /** Number of MP3 bytes decoded in this turn. */
  #decodedNow = 0;
  #isClosed = false;
  /** Number of resets so far. */
  #resetCount = 0;

  constructor(options: IncomingAudioOptions) {
    this.#options = options;
    this.#begin(options.encoding);
  }

  /**
   * Adds the next message. If decoding takes long, it is done in slices with pauses, and the result is a promise: do
   * not push anything before it has resolved.
   * @throws {NotAudio} synchronously or as a rejection; the decoder is then closed
   */
  push(message: Uint8Array): void | Promise<void> {
    if (this.#isClosed || message.length === 0) return;
    return this.#closeOnError(() => {
      this.#refuseText(message, this.#isFirstMessage);
      this.#isFirstMessage = false;
      if (this.#opening === undefined) return this.#decode(this.#checkStart(message));
      const audio = this.#opening.push(message);
      if (audio === undefined) return;
      this.#opening = undefined;
      this.#use(audio.format);
      if (audio.format === "wav") this.#refuseBody(audio.bytes);
      return this.#decode(audio.format === "wav" ? audio.bytes : this.#findFiles(audio.bytes));
    });
  }

  /**
   * Drops the bytes held back and those that a pending {@link push} has not decoded yet. The next bytes start a new
   * sample, a new MP3 frame, or a WAV file with its header.
   */
  reset(): void {
    if (this.#isClosed) return;
    this.#resetCount++;
    this.#pcm = new PcmByteStream();
    this.#watch = new CodedAudioWatch();
    this.#account(this.#wav?.bytes.ignored);
    this.#wav = undefined;
    this.#account(this.#mp3?.ignored);
    this.#mp3?.close();
    this.#mp3 = undefined;
    this.#begin(this.#options.encoding ?? (this.#format === "mp3" ? "mp3" : undefined));
  }

  /**
   * Ends the audio: decodes the bytes held back, and returns the ignored bytes by reason. Call it when no
   * {@link push} is pending; more audio may follow.
   */
  end(): readonly IgnoredBytes[] {
    if (this.#isClosed) return this.#ignoredBytes.total.ignored;
    const heldBytes = this.#opening?.heldBytes ?? 0;
    const audio = this.#opening?.end();
    if (audio !== undefined) {
      this.#use(audio.format);
      this.#decodeSlice(audio.bytes);
    } else this.#ignoredBytes.addIgnored("incomplete", heldBytes);
    if (this.#pcm.isOdd) this.#ignoredBytes.addIgnored("incomplete", 1);
    this.#endWav();
    this.#emit(this.#mp3?.finish?.() ?? []);
    this.reset();
    return this.#ignoredBytes.total.ignored;
  }

  /** Frees the decoder. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#opening = undefined;
    this.#mp3?.close();
    this.#mp3 = undefined;
  }

  #begin(encoding: StreamEncoding | undefined): void {
    this.#format = encoding;
    this.#opening = this.#options.isHeldBack === false ? undefined : new AudioOpening(encoding);
  }

  #use(format: IncomingFormat): void {
    this.#endWav();
    this.#format = format;
    this.#wav = format === "wav" ? new WavDecoder() : undefined;
  }

  #refuseText(message: Uint8Array, isFirst: boolean): void {
    const text = namedText(message, isFirst);
    if (text !== undefined) throw new NotAudio(`this is ${text.name}, not audio: ${text.fix}`);
  }

  /**
   * Checks the start of a later message: a file may start here. Returns the bytes to decode in the
   * current format.
   */
  #checkStart(message: Uint8Array): Uint8Array {
    const isMp3 = this.#format === "mp3";
    const name = namedFile(message, "anywhere");
    if (name === "WAV") {
      this.#refuseBody(message);
      if (this.#format !== "wav") this.#use("wav");
      return message;
    }
    const isTag = name?.startsWith("MP3") === true;
    if (name !== undefined && !(isTag && isMp3)) throw this.#refusal(name);
    // Bytes after the last sample of a WAV file, without their own header, have the declared format.
    if (this.#format === "wav" && this.#wav?.isBetweenFiles(message) === true) this.#use(this.#statedEncoding);
    return this.#findFiles(message);
  }

  /** Checks the bytes after a WAV header, which may precede another file by mistake. */
  #refuseBody(wav: Uint8Array): void {
    const at = wavBodyAt(wav);
    if (at === undefined) return;
    const body = wav.subarray(at);
    this.#refuseText(body, false);
    const name = foreignName(body);
    if (name === undefined || name === "WAV") return;
    throw new NotAudio(`a WAV header precedes other audio: this is ${name}: send it without that header`);
  }

  /** Looks for an MP3 and a WAV file among samples; decodes those before a WAV file, and returns the rest. */
  #findFiles(message: Uint8Array): Uint8Array {
    if (this.#format === "mp3" || this.#format === "wav") return message;
    const codedName = this.#watch.push(message);
    if (codedName !== undefined) throw this.#refusal(codedName);
    const at = waveIn(message);
    if (at === undefined) return message;
    this.#decodeSlice(message.subarray(0, at));
    this.#use("wav");
    return message.subarray(at);
  }

  #endWav(): void {
    try {
      this.#emit(this.#wav?.finish() ?? []);
    } catch (error) {
      // A header without samples.
      if (!(error instanceof AudioFormatError)) throw error;
    }
    this.#account(this.#wav?.bytes.ignored);
    this.#wav = undefined;
  }

  #account(ignored: readonly IgnoredBytes[] = []): void {
    for (const { reason, bytes } of ignored) this.#ignoredBytes.addIgnored(reason, bytes);
  }

  #refusal(name: string): NotAudio {
    const { accepts } = this.#options;
    return accepts === undefined
      ? fileRefusal(name, this.#statedEncoding)
      : new NotAudio(`this is ${name}: send ${accepts}`);
  }

  /** The encoding of bytes without a header. */
  get #statedEncoding(): StreamEncoding {
    const { encoding = "pcm_s16le" } = this.#options;
    return encoding;
  }

  #decode(bytes: Uint8Array): void | Promise<void> {
    if (bytes.length > this.#wholeBytes || this.#options.waitForRoom?.(this.#durationMs(bytes)))
      return this.#decodeInSlices(bytes, this.#resetCount).catch((error: unknown) => this.#fail(error));
    this.#decodeSlice(bytes);
  }

  /** Number of bytes that may be decoded at once. */
  get #wholeBytes(): number {
    if (this.#format === "mp3") return this.#mp3 === undefined ? 0 : TURN_BYTES - this.#decodedNow;
    if (this.#format === "wav") return SLICE_BYTES;
    const { bytesPerSample } = sampleCoding(this.#format);
    return (MAX_WHOLE_MS / 1000) * this.#options.sampleRate * bytesPerSample;
  }

  /** Maximum length of the audio in these bytes, ms. */
  #durationMs(bytes: Uint8Array): number {
    if (this.#format === "mp3" || this.#format === "wav") return SLICE_MS;
    return samplesToMs(bytes.length / sampleCoding(this.#format).bytesPerSample, this.#options.sampleRate);
  }

  async #decodeInSlices(bytes: Uint8Array, resetCount: number): Promise<void> {
    const isMp3 = this.#format === "mp3";
    if (isMp3 && this.#mp3 === undefined) await this.#openMp3();
    for (let at = 0; at < bytes.length && !this.#isClosed && this.#resetCount === resetCount; ) {
      const waitForRoom = this.#options.waitForRoom?.(SLICE_MS);
      if (waitForRoom) await waitForRoom;
      else if (isMp3 && this.#decodedNow >= TURN_BYTES) {
        await nextTurn();
        this.#decodedNow = 0;
      } else {
        const slice = bytes.subarray(at, at + (isMp3 ? TURN_BYTES - this.#decodedNow : SLICE_BYTES));
        at += slice.length;
        this.#decodeSlice(slice);
      }
    }
  }

  async #openMp3(): Promise<void> {
    if (this.#options.mp3 === undefined)
      throw new NotAudio("MP3 cannot be decoded here: send 16-bit PCM, mu-law or A-law");
    const mp3 = await this.#options.mp3();
    if (this.#isClosed) mp3.close();
    else this.#mp3 = mp3;
  }

  #decodeSlice(bytes: Uint8Array): void {
    const format = this.#format;
    if (format === "mp3") {
      this.#decodedNow += bytes.length;
      this.#emit(this.#mp3?.push(bytes) ?? []);
    } else if (format === "wav") this.#emit(this.#wav?.push(bytes) ?? []);
    else {
      const coding = sampleCoding(format);
      const samples = coding.bytesPerSample === 1 ? coding.decode(bytes) : this.#pcm.push(bytes);
      if (samples.length > 0) this.#options.onDecoded(samples, this.#options.sampleRate);
    }
  }

  #emit(chunks: readonly PcmChunk[]): void {
    for (const { samples, sampleRate } of chunks) if (!this.#isClosed) this.#options.onDecoded(samples, sampleRate);
  }

  #closeOnError<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    this.close();
    if (error instanceof AudioUnsupported || error instanceof AudioFormatError)
      throw new NotAudio(error.message, { cause: error });
    throw error;
  }
}
