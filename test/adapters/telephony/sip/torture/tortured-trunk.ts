import { connect } from "node:net";
import { expect } from "vitest";
import { type DatagramPeer, datagramPeer } from "../../../../sip-stack/transport/sockets.ts";
import { freePort } from "../../../../support/free-port.ts";
import { callees } from "../../../../support/sip/far-end.ts";
import { field, type SipText, statusOf, writeSip } from "../../../../support/sip/sip-text.ts";
import { Scene } from "../scene.ts";

/** The provider's address; responses to the RFC's messages go to the port of their Via at this address only. */
const PROVIDER = "127.44.75.1";
/** Ports named in their Via fields; 5060 by default (RFC 3261 section 18.2.2). */
const VIA_PORTS = [5060, 5050, 5070];

/** Binds a port that the previous test's trunk may still use: Bun reports a socket closed before its port is free. */
async function peerAt(port: number): Promise<DatagramPeer> {
  for (let tries = 1; ; tries++)
    try {
      return await datagramPeer(PROVIDER, port);
    } catch (fault) {
      if (tries === 50 || (fault as NodeJS.ErrnoException).code !== "EADDRINUSE") throw fault;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

/** Responses received: the status of each, with its CSeq. */
export type Responses = readonly string[];

/** A running trunk over UDP and TCP, and the sockets that send torture messages from its provider's address. */
export class TorturedTrunk {
  readonly scene: Scene;
  readonly #peers: readonly DatagramPeer[];
  readonly #udpPort: number;
  readonly #tcpPort: number;
  #markCount = 0;
  #closePromise: Promise<unknown> | undefined;

  private constructor(scene: Scene, peers: readonly DatagramPeer[], udpPort: number, tcpPort: number) {
    this.scene = scene;
    this.#peers = peers;
    this.#udpPort = udpPort;
    this.#tcpPort = tcpPort;
  }

  static async open(): Promise<TorturedTrunk> {
    const tcpPort = await freePort();
    const scene = await Scene.open(
      { listen: { transport: "tcp", address: "127.0.0.1", port: tcpPort } },
      { address: PROVIDER, callees: { "*": callees.speaks } },
    );
    await scene.line();
    const via = field(scene.farEnd.requests[0]!, "Via");
    const peers = await Promise.all(VIA_PORTS.map(peerAt));
    return new TorturedTrunk(scene, peers, Number(/:(\d+)/.exec(via)?.[1]), tcpPort);
  }

  /** Sends one datagram. All responses to it have arrived once a later request has its response. */
  async overUdp(bytes: Uint8Array): Promise<Responses> {
    const [peer] = this.#peers;
    const counts = this.#peers.map(({ received }) => received.length);
    const mark = `mark-${++this.#markCount}`;
    peer!.send(bytes, this.#udpPort, "127.0.0.1");
    peer!.send(this.#options(mark), this.#udpPort, "127.0.0.1");
    await expect.poll(() => peer!.received.some(({ text }) => text.includes(`${mark}\r`)), { interval: 2 }).toBe(true);
    const texts = this.#peers.flatMap(({ received }, i) => received.slice(counts[i]).map(({ text }) => text));
    return texts.filter((text) => !text.includes(`${mark}\r`)).map(summary);
  }

  /** Sends all bytes on a connection and ends its side. All responses have arrived once the connection is closed. */
  overTcp(bytes: Uint8Array): Promise<Responses> {
    return new Promise((resolve, reject) => {
      let text = "";
      const socket = connect({ port: this.#tcpPort, host: "127.0.0.1", localAddress: PROVIDER });
      socket.on("data", (chunk) => (text += chunk.toString("latin1")));
      socket.once("error", reject);
      socket.once("close", () =>
        resolve(text.split(/(?=^SIP\/2\.0 )/m).flatMap((response) => (response ? [summary(response)] : []))),
      );
      socket.end(bytes);
    });
  }

  close(): Promise<void> {
    this.#closePromise ??= Promise.all([this.scene, ...this.#peers].map((closable) => closable.close()));
    return this.#closePromise.then(() => {});
  }

  #options(mark: string): Buffer {
    return writeSip({
      start: "OPTIONS sip:us@example.com SIP/2.0",
      fields: [
        ["Via", `SIP/2.0/UDP ${PROVIDER}:5060;rport;branch=z9hG4bK${mark}`],
        ["Max-Forwards", "70"],
        ["From", "<sip:them@example.com>;tag=1"],
        ["To", "<sip:us@example.com>"],
        ["Call-ID", mark],
        ["CSeq", "1 OPTIONS"],
      ],
      body: "",
    });
  }
}

/** Short form of a response, such as `480 8 INVITE`. */
function summary(text: string): string {
  const [start = "", ...lines] = text.split("\r\n");
  const cseq = lines.find((line) => /^cseq\s*:/i.test(line))?.replace(/^[^:]*:\s*/, "");
  const response: SipText = { start, fields: [], body: "" };
  return start.startsWith("SIP/2.0 ") ? `${statusOf(response)} ${cseq}` : start;
}
