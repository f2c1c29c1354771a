import type { MediaStatistics } from "../../../adapters/sip-stack/media/engine.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { whiteNoise } from "../../audio/noise.ts";
import { ImpairedNetwork, type NetworkConditions } from "../../support/sip/network-impairment.ts";
import { PEER, peerSettings, sessionAt } from "./session-on-a-clock.ts";

/** A call whose audio crosses a network, on a manual clock: an hour takes seconds, and a seed makes it reproducible. */
export interface ImpairedCallOptions {
  readonly conditions: NetworkConditions;
  readonly seconds: number;
  /** Drift of the sender's clock relative to our clock, ppm. Default: 0. */
  readonly ppm?: number;
  /** Seed. Default: 1. */
  readonly seed?: number;
  /** Called every 5 s of the call. */
  readonly onSample?: (atMs: number, statistics: MediaStatistics) => void;
}

/** Quality for the listener. */
export interface ImpairedCall {
  /** Share of packets lost in the network, and mean length of a burst. */
  readonly loss: number;
  readonly meanBurst: number;
  /** Per minute: concealed audio, ms, and number of such gaps of more than 40 ms. */
  readonly concealedMs: number;
  readonly gaps: number;
  /** Time from the sending of a packet until it is heard, without the network's minimum delay, ms: median, and at the end. */
  readonly delayMs: number;
  readonly lastDelayMs: number;
  /** Quality as the session reports it. */
  readonly mos: number;
}

const RATE = 8_000;
const FRAME_MS = 20;
const FRAME = 160;
const TICKS_PER_SAMPLE = 250;
/** Delay of our first frame after the first packet was sent, ms. */
const PHASE_MS = 7;

/** Sends noise, in which no piece repeats, through the network into a session. */
export function impairedCall({
  conditions,
  seconds,
  ppm = 0,
  seed = 1,
  onSample: sample,
}: ImpairedCallOptions): ImpairedCall {
  const packets = seconds * 50;
  const sentAudio = encodeMulaw(whiteNoise(packets * FRAME, 8_000, seed));
  const network = new ImpairedNetwork(conditions, seed);
  const sentAt = (index: number): number => (index * FRAME_MS) / (1 + ppm / 1e6);
  const arrivals: { readonly at: number; readonly packet: Buffer }[] = [];
  let bursts = 0;
  let isLosing = false;
  for (let index = 0; index < packets; index++) {
    const packet = rtp(index, sentAudio);
    const deliveries = network.deliveries(packet, sentAt(index));
    if (deliveries.length === 0 && !isLosing) bursts++;
    isLosing = deliveries.length === 0;
    for (const ms of deliveries) arrivals.push({ at: sentAt(index) + ms, packet: Buffer.from(packet) });
  }
  arrivals.sort((a, b) => a.at - b.at);

  let now = 0;
  const heard: Int16Array[] = [];
  let firstHeardAt = 0;
  const session = sessionAt(() => now);
  session.connect(
    { read: (frame) => frame.fill(0).length },
    {
      write(frame) {
        if (heard.length === 0) firstHeardAt = now;
        heard.push(Int16Array.from(frame));
      },
    },
  );
  session.configure(peerSettings({ direction: "recvonly" }));
  session.start();
  let next = 0;
  for (let tick = 0; tick < packets; tick++) {
    const dueAt = PHASE_MS + tick * FRAME_MS;
    for (; next < arrivals.length && arrivals[next]!.at <= dueAt; next++) {
      now = arrivals[next]!.at;
      session.datagram(arrivals[next]!.packet, PEER.address, PEER.port);
    }
    now = dueAt;
    session.tick();
    if ((tick + 1) % TICKS_PER_SAMPLE === 0) sample?.((tick + 1) * FRAME_MS, session.statistics());
  }
  const { mos } = session.statistics();
  const { lost, received } = network.counts;
  const delays = findPieces(heard, decodeMulaw(sentAudio), (index, heardMs) => firstHeardAt + heardMs - sentAt(index));
  const sorted = [...delays.ms].sort((a, b) => a - b);
  const minDelayMs = conditions.delayMs ?? 0;
  return {
    loss: lost / received,
    meanBurst: lost / Math.max(1, bursts),
    concealedMs: (delays.concealedMs * 60) / seconds,
    gaps: (delays.gaps * 60) / seconds,
    delayMs: (sorted[sorted.length >> 1] ?? 0) - minDelayMs,
    lastDelayMs: (delays.ms.at(-1) ?? 0) - minDelayMs,
    mos: mos ?? 0,
  };
}

function rtp(index: number, audio: Uint8Array): Buffer {
  const packet = Buffer.alloc(12 + FRAME);
  packet[0] = 0x80;
  packet.writeUInt16BE((100 + index) & 0xffff, 2);
  packet.writeUInt32BE((1_000 + index * FRAME) >>> 0, 4);
  packet.writeUInt32BE(7, 8);
  packet.set(audio.subarray(index * FRAME, (index + 1) * FRAME), 12);
  return packet;
}

/** Length of the noise pieces to find in the received audio. */
const PIECE = 40;
/** Search range around the expected position of a piece. */
const REACH = RATE * 0.4;
const GAP_MS = 40;

/** Finds every sent piece in the received audio: the samples in between are concealment. */
function findPieces(
  frames: readonly Int16Array[],
  audio: Int16Array,
  delay: (index: number, heardMs: number) => number,
): { readonly ms: readonly number[]; readonly concealedMs: number; readonly gaps: number } {
  const heard = new Int16Array(frames.length * FRAME);
  for (const [i, frame] of frames.entries()) heard.set(frame, i * FRAME);
  const ms: number[] = [];
  let [concealedMs, gaps, endAt] = [0, 0, -1];
  let offset = 0;
  for (let from = 0; from + PIECE <= audio.length; from += PIECE) {
    const at = locate(heard, audio.subarray(from, from + PIECE), Math.max(0, endAt), from + offset);
    if (at < 0) continue;
    offset = at - from;
    const gapMs = endAt < 0 ? 0 : ((at - endAt) * 1_000) / RATE;
    concealedMs += gapMs;
    if (gapMs > GAP_MS) gaps++;
    endAt = at + PIECE;
    if (from % FRAME === 0) ms.push(delay(from / FRAME, (at * 1_000) / RATE));
  }
  return { ms, concealedMs: concealedMs, gaps };
}

/** Position of a piece, at least `min`, nearest to `expected`; -1 if not found. */
function locate(heard: Int16Array, piece: Int16Array, min: number, expected: number): number {
  for (let distance = 0; distance <= REACH; distance++)
    for (const at of distance === 0 ? [expected] : [expected + distance, expected - distance]) {
      if (at < min || at + piece.length > heard.length) continue;
      let i = 0;
      while (i < piece.length && heard[at + i] === piece[i]) i++;
      if (i === piece.length) return at;
    }
  return -1;
}
