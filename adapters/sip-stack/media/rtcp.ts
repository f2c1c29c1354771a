import { readUint32, writeUint32 } from "./rtp-packet.ts";

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const GOODBYE = 203;
const CNAME = 1;
const REPORT_BYTES = 24;
/** Maximum number of bytes that `writeRtcp` writes, with a CNAME of up to 40 characters. */
export const RTCP_BYTES = 160;

/** True if a datagram on a port shared with RTP is RTCP (RFC 5761 section 4). */
export function isRtcp(bytes: Uint8Array, length: number): boolean {
  return length >= 8 && bytes[0]! >> 6 === 2 && bytes[1]! >= 192 && bytes[1]! <= 223;
}

/** The contents of our report (RFC 3550 section 6.4). */
export interface RtcpReport {
  readonly ssrc: number;
  readonly cname: string;
  /** Statistics of our stream; undefined if no packet has been sent since the last report. */
  readonly sender:
    | {
        /** Wall clock, ms since 1970. */
        readonly now: number;
        readonly timestamp: number;
        readonly packets: number;
        readonly octets: number;
      }
    | undefined;
  /** Reception of the peer's stream; undefined if no packet has been received. */
  readonly block:
    | {
        readonly ssrc: number;
        /** Fraction of packets lost, in 1/256. */
        readonly fractionLost: number;
        readonly lost: number;
        readonly highest: number;
        readonly jitter: number;
        /** Middle 32 bits of the last sender report's time, and the report's age, in 1/65536 s. */
        readonly lastReport: number;
        readonly sinceLastReport: number;
      }
    | undefined;
  /** True if a BYE follows. */
  readonly goodbye: boolean;
}

/** Writes a compound packet that contains a report, our name, and optionally a BYE. Returns its length in bytes. */
export function writeRtcp(output: Uint8Array, report: RtcpReport): number {
  const { sender, block } = report;
  let at = writeHead(output, 0, sender ? SENDER_REPORT : RECEIVER_REPORT, block ? 1 : 0, report.ssrc);
  if (sender !== undefined) {
    const seconds = Math.floor(sender.now / 1000);
    writeUint32(output, at, seconds + 2_208_988_800); // NTP counts from 1900
    writeUint32(output, at + 4, Math.floor((sender.now / 1000 - seconds) * 2 ** 32));
    writeUint32(output, at + 8, sender.timestamp);
    writeUint32(output, at + 12, sender.packets);
    writeUint32(output, at + 16, sender.octets);
    at += 20;
  }
  if (block !== undefined) {
    writeUint32(output, at, block.ssrc);
    writeUint32(output, at + 4, Math.max(-0x800000, Math.min(0x7fffff, block.lost)));
    output[at + 4] = block.fractionLost;
    writeUint32(output, at + 8, block.highest);
    writeUint32(output, at + 12, block.jitter);
    writeUint32(output, at + 16, block.lastReport);
    writeUint32(output, at + 20, block.sinceLastReport);
    at += REPORT_BYTES;
  }
  writeLength(output, 0, at);
  const description = at;
  at = writeHead(output, at, SOURCE_DESCRIPTION, 1, report.ssrc);
  output[at++] = CNAME;
  output[at++] = report.cname.length;
  for (let i = 0; i < report.cname.length; i++) output[at++] = report.cname.charCodeAt(i);
  do output[at++] = 0;
  while (at % 4 !== 0);
  writeLength(output, description, at);
  if (report.goodbye) {
    const goodbye = at;
    at = writeHead(output, at, GOODBYE, 1, report.ssrc);
    writeLength(output, goodbye, at);
  }
  return at;
}

/** Middle 32 bits of the NTP time for a wall-clock time, ms since 1970. */
export function ntpMiddle(now: number): number {
  const seconds = Math.floor(now / 1000);
  const fraction = Math.floor((now / 1000 - seconds) * 0x10000);
  return (((seconds + 2_208_988_800) % 0x10000) * 0x10000 + fraction) >>> 0;
}

/** The last parsed compound packet. One object serves a whole session. */
export class RtcpPacket {
  /** SSRC of its sender; -1 if unknown. */
  ssrc = -1;
  /** Middle 32 bits of the sender's NTP time, and the number of packets it has sent; -1 without a sender report. */
  senderTime = -1;
  senderPackets = -1;
  /** True if the packet reports on our stream; then the following fields are set. */
  hasReport = false;
  /** Share of our packets lost since the previous report, 0 to 1, and the total lost. */
  fractionLost = 0;
  lost = 0;
  /** Highest of our sequence numbers that arrived, with its cycles. */
  highest = 0;
  lastReport = 0;
  sinceLastReport = 0;
  /** SSRC of the BYE; -1 if there is none. */
  goodbye = -1;

  /** Parses the first `length` bytes; returns false if any part is not RTCP. Never throws. @param ownSsrc our SSRC */
  parse(bytes: Uint8Array, length: number, ownSsrc: number): boolean {
    this.ssrc = this.senderTime = this.senderPackets = this.goodbye = -1;
    this.hasReport = false;
    if (!isRtcp(bytes, length) || length > bytes.length) return false;
    let at = 0;
    while (at < length) {
      if (at + 4 > length || bytes[at]! >> 6 !== 2) return false;
      const end = at + 4 + 4 * ((bytes[at + 2]! << 8) | bytes[at + 3]!);
      if (end > length) return false;
      this.#readPacket(bytes, at, end, ownSsrc);
      at = end;
    }
    return true;
  }

  #readPacket(bytes: Uint8Array, start: number, end: number, ownSsrc: number): void {
    const type = bytes[start + 1]!;
    const count = bytes[start]! & 0x1f;
    if (start + 8 > end) return;
    const ssrc = readUint32(bytes, start + 4);
    let at = start + 8;
    if (type === GOODBYE && count > 0) this.goodbye = ssrc;
    if (type !== SENDER_REPORT && type !== RECEIVER_REPORT) return;
    this.ssrc = ssrc;
    if (type === SENDER_REPORT) {
      if (at + 20 > end) return;
      this.senderTime = ((readUint32(bytes, at) & 0xffff) * 0x10000 + (readUint32(bytes, at + 4) >>> 16)) >>> 0;
      this.senderPackets = readUint32(bytes, at + 12);
      at += 20;
    }
    for (let i = 0; i < count && at + REPORT_BYTES <= end; i++, at += REPORT_BYTES) {
      if (readUint32(bytes, at) !== ownSsrc) continue;
      this.hasReport = true;
      this.fractionLost = bytes[at + 4]! / 256;
      this.lost = (readUint32(bytes, at + 4) << 8) >> 8;
      this.highest = readUint32(bytes, at + 8);
      this.lastReport = readUint32(bytes, at + 16);
      this.sinceLastReport = readUint32(bytes, at + 20);
    }
  }
}

function writeHead(output: Uint8Array, at: number, type: number, count: number, ssrc: number): number {
  output[at] = 0x80 | count;
  output[at + 1] = type;
  writeUint32(output, at + 4, ssrc);
  return at + 8;
}

/** Writes the length of the packet from `start` to `end`. */
function writeLength(output: Uint8Array, start: number, end: number): void {
  const words = (end - start) / 4 - 1;
  output[start + 2] = words >>> 8;
  output[start + 3] = words;
}
