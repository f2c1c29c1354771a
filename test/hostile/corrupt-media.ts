import type { Draw } from "./corrupt-text.ts";

const randomBelow = (limit: number, draw: Draw): number => Math.floor(draw() * limit);

/** An invalid RTP packet: flags without their data, random numbers, truncated. */
function invalidRtp(packet: Buffer, draw: Draw): Buffer {
  const corruptedPacket = Buffer.from(packet);
  if (corruptedPacket.length < 12) return corruptedPacket;
  const kinds: readonly (() => void)[] = [
    () => (corruptedPacket[0] = randomBelow(256, draw)), // version, padding, extension, CSRC count
    () => (corruptedPacket[0] = 0x8f),
    () => {
      corruptedPacket[0] = 0xa0;
      corruptedPacket[corruptedPacket.length - 1] = randomBelow(256, draw);
    },
    () => {
      corruptedPacket[0] = 0x90;
      corruptedPacket.writeUInt16BE(randomBelow(65_536, draw), Math.min(14, corruptedPacket.length - 2));
    },
    () => (corruptedPacket[1] = randomBelow(256, draw)),
    () => corruptedPacket.writeUInt16BE(randomBelow(65_536, draw), 2),
    () => corruptedPacket.writeUInt32BE(randomBelow(2 ** 32, draw), 4),
    () => corruptedPacket.writeUInt32BE(randomBelow(2 ** 32, draw), 8),
  ];
  for (let n = randomBelow(3, draw); n >= 0; n--) kinds[randomBelow(kinds.length, draw)]!();
  return draw() < 0.2 ? corruptedPacket.subarray(0, randomBelow(corruptedPacket.length, draw)) : corruptedPacket;
}

/** Some RTCP packets in one datagram: random types, counts and lengths. */
function invalidRtcp(draw: Draw): Buffer {
  const packets = Array.from({ length: 1 + randomBelow(4, draw) }, () => {
    const words = 1 + randomBelow(14, draw);
    const packet = Buffer.from(Array.from({ length: 4 * words }, () => randomBelow(256, draw)));
    packet[0] = 0x80 | randomBelow(64, draw);
    packet[1] = 192 + randomBelow(20, draw);
    packet.writeUInt16BE(draw() < 0.5 ? words - 1 : randomBelow(65_536, draw), 2);
    return packet;
  });
  const datagram = Buffer.concat(packets);
  return draw() < 0.2 ? datagram.subarray(0, randomBelow(datagram.length, draw)) : datagram;
}

/** Replacement for a packet. */
export function corruptMedia(packet: Buffer, draw: Draw): Buffer {
  return draw() < 0.3 ? invalidRtcp(draw) : invalidRtp(packet, draw);
}
