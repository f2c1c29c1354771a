// The baseline: a WebSocket server that sends every message back, as in the documentation of each runtime (on
// Node, of `ws`), without further code.
import { WebSocketServer } from "ws";

// The parts of Bun and Deno that are used here.
interface EchoSocket {
  send(data: string | Uint8Array): void;
}
declare const Bun: { serve(options: object): { readonly port: number } };
interface DenoNamespace {
  serve(options: object, handler: (request: Request) => Response): { readonly addr: { readonly port: number } };
  upgradeWebSocket(request: Request): { socket: WebSocket; response: Response };
}
const { Deno } = globalThis as unknown as { Deno?: DenoNamespace };
const hostname = "127.0.0.1";

console.log(`http://${hostname}:${await serveEcho()}`);

async function serveEcho(): Promise<number> {
  if ("Bun" in globalThis) {
    const fetch = (request: Request, server: { upgrade(request: Request): boolean }) =>
      server.upgrade(request) ? undefined : new Response(null, { status: 400 });
    const websocket = { message: (socket: EchoSocket, data: string | Uint8Array) => socket.send(data) };
    return Bun.serve({ port: 0, hostname, fetch, websocket }).port;
  }
  if (Deno) {
    const upgrade = (request: Request): Response => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.binaryType = "arraybuffer";
      socket.onmessage = ({ data }) => socket.send(data);
      return response;
    };
    return Deno.serve({ port: 0, hostname, onListen() {} }, upgrade).addr.port;
  }
  const server = new WebSocketServer({ port: 0, host: hostname, perMessageDeflate: false });
  server.on("connection", (socket) => {
    socket.on("message", (data, binary) => socket.send(data, { binary }));
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as { port: number }).port;
}
