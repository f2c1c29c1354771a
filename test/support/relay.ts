import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A relay between a program and a database, so that a test can cut the connection. */
export interface Relay {
  /** URL of the database through the relay. */
  readonly url: string;
  /** Breaks every connection and accepts no new ones. */
  cut(): Promise<void>;
  /** Stops forwarding, as if the cable had been pulled; the connections stay open. */
  freeze(): void;
  /** Accepts connections again, at the same address. */
  mend(): Promise<void>;
  /**
   * Lets the next message with these words reach the database, and breaks its connection when the response arrives. Resolves when it has broken, or when the signal is aborted.
   */
  loseAnswer(words: string, signal?: AbortSignal): Promise<void>;
}

/** Starts a relay to the host and port of a URL. */
export async function relayTo(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket =>
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  let server: Server | undefined;
  let doomed: { readonly words: string; readonly lost: () => void } | undefined;
  const listen = (at: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const next = createServer((near) => {
        const far = connect(Number(port), hostname);
        for (const socket of [near, far]) sockets.add(keep(socket));
        // A process that is killed resets its connections, which a pipe does not pass on.
        near.on("close", () => far.destroy());
        far.on("close", () => near.destroy());
        let lose: (() => void) | undefined;
        near.on("data", (chunk: Buffer) => {
          if (doomed && chunk.includes(doomed.words)) [lose, doomed] = [doomed.lost, undefined];
        });
        far.on("data", () => {
          if (lose === undefined) return;
          for (const socket of [near, far]) socket.destroy();
          lose();
        });
        near.pipe(far).pipe(near);
      });
      server = next;
      next.once("error", reject);
      next.listen(at, "127.0.0.1", () => resolve((next.address() as AddressInfo).port));
    });
  const ownPort = await listen(0);
  const relayed = new URL(url);
  relayed.host = `127.0.0.1:${ownPort}`;
  return {
    url: relayed.href,
    cut: () =>
      new Promise((resolve) => {
        server?.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: async () => void (await listen(ownPort)),
    loseAnswer: (words, signal) =>
      new Promise((lost) => {
        doomed = { words, lost };
        signal?.addEventListener("abort", () => {
          doomed = undefined;
          lost();
        });
      }),
  };
}
