import { continuationBytes, declaredLength, isCutOff } from "./declared-length.ts";
import { CHUNK_HEAD_BYTES } from "./wav-chunks.ts";

const ALL_ONES = 0xffff_ffff;

/** The declared lengths of a WAV file, and the parts that have arrived. Positions count from the first byte. */
export class WavLengths {
  #riffAt = 0;
  #riffClaim = 0;
  #longRiffClaim = ALL_ONES;
  #longDataClaim = ALL_ONES;
  #dataClaim = 0;
  #dataStart = 0;
  #dataReceived = 0;
  #dataEnd = -1;

  /** Starts a file at the position of its header. */
  beginFile(at: number, claim: number): void {
    this.#riffAt = at;
    this.#riffClaim = claim;
    this.#longRiffClaim = ALL_ONES;
    this.#longDataClaim = ALL_ONES;
  }

  /** Reads the lengths of a `ds64` chunk, which replace 0xFFFFFFFF. */
  readDs64(chunk: DataView): void {
    this.#longRiffClaim = uint64At(chunk, 0);
    this.#longDataClaim = uint64At(chunk, 8);
  }

  /** Starts the samples of a data chunk and returns their length, bytes; Infinity if it is unknown. */
  beginData(at: number, claim: number): number {
    this.#dataStart = at;
    this.#dataClaim = claim === ALL_ONES ? this.#longDataClaim : claim;
    this.#dataReceived = 0;
    if (this.#riffClaim === ALL_ONES) this.#riffClaim = this.#longRiffClaim;
    return declaredLength(this.#dataClaim) ?? Infinity;
  }

  /** True if a pad byte should follow the data chunk. */
  get isOdd(): boolean {
    return this.#dataClaim % 2 === 1;
  }

  /** True if no byte of the data chunk has arrived. */
  get isEmpty(): boolean {
    return this.#dataReceived === 0;
  }

  /** Counts bytes of the data chunk. */
  receive(bytes: number): void {
    this.#dataReceived += bytes;
  }

  /** Ends the data chunk here, at its declared length or at the next chunk. */
  endData(at: number): void {
    this.#dataEnd = at;
  }

  /** True if the latest data chunk ends here. */
  isDataEnd(at: number): boolean {
    return at === this.#dataEnd;
  }

  /** Number of bytes from the beginning of the data chunk. */
  offsetInData(at: number): number {
    return at - this.#dataStart;
  }

  /** Number of bytes of the container from here on; Infinity if its length is unknown. */
  remaining(at: number): number {
    const length = declaredLength(this.#riffClaim);
    return length === undefined ? Infinity : this.#riffAt + CHUNK_HEAD_BYTES + length - at;
  }

  /** Number of bytes after a data chunk whose declared length is too short; 0 if there are none. */
  continuation(at: number): number {
    return continuationBytes(this.remaining(at));
  }

  /** True if a file of this many bytes in total is truncated. */
  isCutOff(received: number): boolean {
    return isCutOff({
      claim: this.#dataClaim,
      received: this.#dataReceived,
      containerEnd: this.#riffClaim + CHUNK_HEAD_BYTES,
      containerReceived: received - this.#riffAt,
    });
  }
}

/** Reads 64 bits. */
function uint64At(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
