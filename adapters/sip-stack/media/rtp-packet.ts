/** Size of a header without sources and extension, bytes. */
export const RTP_HEADER_BYTES = 12;
/** Maximum number of bytes that SRTP adds to a packet: the SRTCP index and an 80-bit tag. */
export const PROTECTION_BYTES = 14;

/** The last parsed packet (RFC 3550 section 5.1). One object serves all packets; the payload is not copied. */
export class RtpPacket {
  marker = false;
  payloadType = 0;
  sequence = 0;
  timestamp = 0;
  ssrc = 0;
  /** Offset of the payload, and its length without padding, bytes. */
  payloadAt = 0;
  payloadLength = 0;

  /** Parses the first `length` bytes; false, with an `ssrc` of -1, if they are not RTP. Never throws. */
  parse(bytes: Uint8Array, length: number): boolean {
    this.ssrc = -1;
    if (length < RTP_HEADER_BYTES || length > bytes.length || bytes[0]! >> 6 !== 2) return false;
    let at = RTP_HEADER_BYTES + 4 * (bytes[0]! & 0x0f);
    if ((bytes[0]! & 0x10) !== 0) {
      if (at + 4 > length) return false;
      at += 4 + 4 * ((bytes[at + 2]! << 8) | bytes[at + 3]!);
    }
    let end = length;
    if ((bytes[0]! & 0x20) !== 0) {
      const padding = bytes[length - 1]!;
      if (padding === 0) return false;
      end -= padding;
    }
    if (at > end) return false;
    this.marker = (bytes[1]! & 0x80) !== 0;
    this.payloadType = bytes[1]! & 0x7f;
    this.sequence = (bytes[2]! << 8) | bytes[3]!;
    this.timestamp = readUint32(bytes, 4);
    this.ssrc = readUint32(bytes, 8);
    this.payloadAt = at;
    this.payloadLength = end - at;
    return true;
  }
}

/** Writes a header of `RTP_HEADER_BYTES` at the start of a packet. */
export function writeRtpHeader(
  output: Uint8Array,
  payloadType: number,
  marker: boolean,
  sequence: number,
  timestamp: number,
  ssrc: number,
): void {
  output[0] = 0x80;
  output[1] = (marker ? 0x80 : 0) | payloadType;
  output[2] = sequence >>> 8;
  output[3] = sequence;
  writeUint32(output, 4, timestamp);
  writeUint32(output, 8, ssrc);
}

/** Reads a big-endian four-byte number, which must be within the array. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Writes the lowest 32 bits of a number, big-endian. */
export function writeUint32(output: Uint8Array, at: number, value: number): void {
  output[at] = value >>> 24;
  output[at + 1] = value >>> 16;
  output[at + 2] = value >>> 8;
  output[at + 3] = value;
}
