import { bindMediaSocket, type MediaSocket } from "../../sip-stack/media/media-socket.ts";

/** Ports above those of the calls. */
const PORTS = [49_152, 65_535] as const;

/** The remote end of all calls: sockets on 127.0.0.1 that return every datagram to its source. */
export interface Echo {
  readonly ports: readonly number[];
  close(): Promise<void>;
}

/**
 * Starts an echo in this thread.
 * @param count number of sockets: each has a buffer of its own in the operating system, so that more packets survive a pause
 */
export async function startEcho(count: number): Promise<Echo> {
  const ports: number[] = [];
  const sockets: MediaSocket[] = [];
  for (let port = PORTS[0]; port <= PORTS[1] && ports.length < count; port++) {
    const socket: MediaSocket | undefined = await bindMediaSocket("127.0.0.1", port, (bytes, from, fromPort) =>
      socket?.send(bytes, fromPort, from),
    );
    if (socket === undefined) continue;
    ports.push(port);
    sockets.push(socket);
  }
  return {
    ports,
    close: async () => void (await Promise.all(sockets.map((socket) => socket.close()))),
  };
}
