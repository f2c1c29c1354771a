import { createSocket, type Socket } from "node:dgram";
import { type DatagramCounts, ImpairedNetwork, type NetworkConditions } from "./network-impairment.ts";
import { field, readSip, type SipText, writeSip } from "./sip-text.ts";

interface Address {
  readonly address: string;
  readonly port: number;
}

export interface LossyRelayOptions {
  /** Address of the other side. */
  readonly to: Address;
  /** Impairments for SIP and for RTP, the same in both directions. */
  readonly signalling?: NetworkConditions;
  readonly media?: NetworkConditions;
  /** Seed. Default: 1. */
  readonly seed?: number;
  /** Replaces each datagram of the server to the client by any number of them, in order. Default: the datagram. */
  readonly corrupt?: {
    signalling(datagram: Buffer): readonly Buffer[];
    media(datagram: Buffer): readonly Buffer[];
  };
}

/** A bad network between a SIP client and its server on UDP, for signalling and media. */
export interface LossyRelay {
  /** Address that the client uses as the server. */
  readonly address: string;
  readonly port: number;
  readonly uri: string;
  /** Number of datagrams by their treatment, in both directions. */
  readonly signalling: DatagramCounts;
  readonly media: DatagramCounts;
  close(): Promise<void>;
}

/** One side: its address, and our socket that represents the other side. */
interface Side {
  readonly socket: Socket;
  readonly ownAddress: Address;
  peer: Address | undefined;
}

const ADDRESS = "127.0.0.1";

/**
 * Starts a relay. It stays in the path of a whole call: in every message it replaces Contact and the address and port in SDP with its own. Everything else passes unchanged, so that credentials stay valid. RTCP passes if it is
 * multiplexed.
 */
export async function startLossyRelay(options: LossyRelayOptions): Promise<LossyRelay> {
  const { to, seed = 1 } = options;
  const signalling = new ImpairedNetwork(options.signalling ?? {}, seed);
  const media = new ImpairedNetwork(options.media ?? {}, seed + 1);
  const sockets = new Set<Socket>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  /** Both sides of each call's audio, by Call-ID. */
  const voices = new Map<string, Promise<readonly [near: Side, far: Side]>>();
  let isClosed = false;

  async function open(peer?: Address): Promise<Side> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, ADDRESS, resolve));
    sockets.add(socket.on("error", () => {}));
    if (isClosed) socket.close();
    return { socket, ownAddress: { address: ADDRESS, port: socket.address().port }, peer };
  }

  function pass(datagram: Buffer, side: Side, network: ImpairedNetwork): void {
    for (const ms of network.deliveries(datagram)) {
      const send = (): void => {
        if (isClosed || !side.peer) return;
        side.socket.send(datagram, side.peer.port, side.peer.address, () => {});
      };
      if (ms === 0) send();
      else {
        const timer = setTimeout(() => {
          timers.delete(timer);
          send();
        }, ms);
        timers.add(timer);
      }
    }
  }

  /** Forwards datagrams from `source` to the peer of `target`. */
  function forward(
    source: Side,
    target: Side,
    network: ImpairedNetwork,
    rewrite?: (datagram: Buffer) => Promise<Buffer>,
    corrupt: (datagram: Buffer) => readonly Buffer[] = (datagram) => [datagram],
  ): void {
    const passAll = (datagram: Buffer): void => {
      for (const copy of corrupt(datagram)) pass(copy, target, network);
    };
    source.socket.on("message", (datagram, { address, port }) => {
      source.peer = { address, port };
      if (!rewrite) passAll(datagram);
      else void rewrite(datagram).then(passAll);
    });
  }

  function voicesOf(callId: string): Promise<readonly [Side, Side]> {
    const voice = voices.get(callId);
    if (voice) return voice;
    const opening = Promise.all([open(), open()]).then(([nearSocket, farSocket]) => {
      forward(nearSocket, farSocket, media);
      forward(farSocket, nearSocket, media, undefined, options.corrupt?.media);
      return [nearSocket, farSocket] as const;
    });
    voices.set(callId, opening);
    return opening;
  }

  /** A message from one side, rewritten for the other side. @param from 0 for the near side, 1 for the far one */
  async function rewriteMessage(datagram: Buffer, from: 0 | 1, address: Address): Promise<Buffer> {
    if (datagram.length < 20) return datagram; // a keep-alive
    const text = readSip(datagram);
    const fields = text.fields
      .filter(([name]) => name.toLowerCase() !== "content-length")
      .map(([name, value]): readonly [string, string] => {
        if (name.toLowerCase() !== "contact") return [name, value];
        return [name, value.replace(/(sips?:(?:[^@>;]*@)?)[^>;:]+(?::\d+)?/i, `$1${address.address}:${address.port}`)];
      });
    return writeSip({ ...text, fields, body: await withOurAudio(text, from) });
  }

  async function withOurAudio(text: SipText, from: 0 | 1): Promise<string> {
    const port = /^m=audio (\d+)/m.exec(text.body)?.[1];
    const address = /^c=IN IP4 (\S+)/m.exec(text.body)?.[1];
    if (!port || !address) return text.body;
    const pair = await voicesOf(field(text, "Call-ID"));
    pair[from].peer ??= { address, port: Number(port) };
    return text.body
      .replace(/^m=audio \d+/m, `m=audio ${pair[1 - from]!.ownAddress.port}`)
      .replaceAll(/^c=IN IP4 \S+/gm, `c=IN IP4 ${ADDRESS}`)
      .replaceAll(/^a=rtcp:.*\r\n/gm, "");
  }

  const [nearSocket, farSocket] = [await open(), await open(to)];
  forward(nearSocket, farSocket, signalling, (datagram) => rewriteMessage(datagram, 0, farSocket.ownAddress));
  forward(
    farSocket,
    nearSocket,
    signalling,
    (datagram) => rewriteMessage(datagram, 1, nearSocket.ownAddress),
    options.corrupt?.signalling,
  );
  return {
    ...nearSocket.ownAddress,
    uri: `sip:${nearSocket.ownAddress.address}:${nearSocket.ownAddress.port}`,
    signalling: signalling.counts,
    media: media.counts,
    async close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([...sockets].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
    },
  };
}
