import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/**
 * Makes a server listen on a port of this machine that is free over UDP too.
 * @param bind binds a UDP socket to the port; rejects if that is in use
 */
export async function onOnePort<Bound>(tcp: Server, bind: (port: number) => Promise<Bound>): Promise<Bound> {
  for (;;) {
    tcp.listen(0, "127.0.0.1");
    await once(tcp, "listening");
    try {
      return await bind((tcp.address() as AddressInfo).port);
    } catch {
      tcp.close();
      await once(tcp, "close");
    }
  }
}

/** Binds a socket to a port of this machine. @throws {Error} the port is in use */
export async function bindUdp(port: number): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(port, "127.0.0.1");
  try {
    await once(socket, "listening");
    return socket;
  } catch (fault) {
    socket.close();
    throw fault;
  }
}
