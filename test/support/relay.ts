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
  repair(): Promise<void>;
  /**
   * Lets the next message that contains this text reach the database, and breaks the connection when the response
   * arrives. Resolves after that, or when the signal is aborted.
   */
  loseResponse(words: string, signal?: AbortSignal): Promise<void>;
}

/** Starts a relay to the host and port of a URL. */
export async function relayTo(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket =>
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  let server: Server | undefined;
  let pendingLoss: { readonly words: string; readonly onLost: () => void } | undefined;
  const listen = (listenPort: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const newServer = createServer((client) => {
        const upstream = connect(Number(port), hostname);
        for (const socket of [client, upstream]) sockets.add(track(socket));
        // A pipe does not forward the resets of a killed process.
        client.on("close", () => upstream.destroy());
        upstream.on("close", () => client.destroy());
        let loseNext: (() => void) | undefined;
        client.on("data", (chunk: Buffer) => {
          if (pendingLoss && chunk.includes(pendingLoss.words))
            [loseNext, pendingLoss] = [pendingLoss.onLost, undefined];
        });
        upstream.on("data", () => {
          if (loseNext === undefined) return;
          for (const socket of [client, upstream]) socket.destroy();
          loseNext();
        });
        client.pipe(upstream).pipe(client);
      });
      server = newServer;
      newServer.once("error", reject);
      newServer.listen(listenPort, "127.0.0.1", () => resolve((newServer.address() as AddressInfo).port));
    });
  const ownPort = await listen(0);
  const relayedUrl = new URL(url);
  relayedUrl.host = `127.0.0.1:${ownPort}`;
  return {
    url: relayedUrl.href,
    cut: () =>
      new Promise((resolve) => {
        server?.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    repair: async () => void (await listen(ownPort)),
    loseResponse: (words, signal) =>
      new Promise((onLost) => {
        pendingLoss = { words, onLost };
        signal?.addEventListener("abort", () => {
          pendingLoss = undefined;
          onLost();
        });
      }),
  };
}
