import type { Draw } from "./spoil-text.ts";

const below = (most: number, draw: Draw): number => Math.floor(draw() * most);

/** An invalid RTP packet: flags without their data, random numbers, truncated. */
function wildRtp(packet: Buffer, draw: Draw): Buffer {
  const spoilt = Buffer.from(packet);
  if (spoilt.length < 12) return spoilt;
  const kinds: readonly (() => void)[] = [
    () => (spoilt[0] = below(256, draw)), // version, padding, extension, CSRC count
    () => (spoilt[0] = 0x8f),
    () => {
      spoilt[0] = 0xa0;
      spoilt[spoilt.length - 1] = below(256, draw);
    },
    () => {
      spoilt[0] = 0x90;
      spoilt.writeUInt16BE(below(65_536, draw), Math.min(14, spoilt.length - 2));
    },
    () => (spoilt[1] = below(256, draw)),
    () => spoilt.writeUInt16BE(below(65_536, draw), 2),
    () => spoilt.writeUInt32BE(below(2 ** 32, draw), 4),
    () => spoilt.writeUInt32BE(below(2 ** 32, draw), 8),
  ];
  for (let n = below(3, draw); n >= 0; n--) kinds[below(kinds.length, draw)]!();
  return draw() < 0.2 ? spoilt.subarray(0, below(spoilt.length, draw)) : spoilt;
}

/** Some RTCP packets in one datagram: random types, counts and lengths. */
function wildRtcp(draw: Draw): Buffer {
  const packets = Array.from({ length: 1 + below(4, draw) }, () => {
    const words = 1 + below(14, draw);
    const packet = Buffer.from(Array.from({ length: 4 * words }, () => below(256, draw)));
    packet[0] = 0x80 | below(64, draw);
    packet[1] = 192 + below(20, draw);
    packet.writeUInt16BE(draw() < 0.5 ? words - 1 : below(65_536, draw), 2);
    return packet;
  });
  const datagram = Buffer.concat(packets);
  return draw() < 0.2 ? datagram.subarray(0, below(datagram.length, draw)) : datagram;
}

/** Replacement for a packet. */
export function spoilMedia(packet: Buffer, draw: Draw): Buffer {
  return draw() < 0.3 ? wildRtcp(draw) : wildRtp(packet, draw);
}
