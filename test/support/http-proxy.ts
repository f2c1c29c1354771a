import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { atFileEnd } from "./file-end.ts";

/** A proxy that forwards every host to one port of this machine. */
export interface TestProxy {
  readonly url: string;
  /** Requested hosts, in order. */
  hosts(): readonly string[];
}

/** Starts a proxy for absolute URLs and for CONNECT, and stops it after the test file. */
export async function startProxy(port: number): Promise<TestProxy> {
  const hosts: string[] = [];
  const server = createServer((incoming, response) => {
    const { hostname, pathname } = new URL(incoming.url ?? "");
    hosts.push(hostname);
    const { headers, method } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, path: pathname, method, headers }, (targetResponse) => {
      response.writeHead(targetResponse.statusCode ?? 502, targetResponse.headers);
      targetResponse.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.on("connect", ({ url = "" }: IncomingMessage, client: Socket) => {
    hosts.push(url.split(":")[0] ?? "");
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    for (const socket of [client, target]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hosts: () => hosts };
}
