import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ConnectionOwner, type PublicConnectionOptions, publicConnection } from "./public-connection.ts";

/**
 * Connects to the host of a URL as a request would, with TLS for https, and closes the connection: not one byte of a request
 * is sent.
 * @throws {Error} the host is not public, it cannot be reached, its certificate is wrong, or the signal was aborted
 */
export async function connectOnce(
  url: URL,
  options: PublicConnectionOptions,
  { user, signal }: ConnectionOwner,
): Promise<void> {
  signal.throwIfAborted();
  const { host, port, lookup, ca } = publicConnection(url, options, { user, signal });
  const secure = url.protocol === "https:";
  const target = { host: String(host), port: Number(port || (secure ? 443 : 80)), lookup };
  const servername = isIP(target.host) === 0 ? { servername: target.host } : {};
  let socket: Socket | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      socket = secure ? connectTls({ ...target, ...servername, ca }, resolve) : connect(target, resolve);
      socket.on("error", reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    // The server sees an end, and no reset within the handshake.
    await new Promise<void>((resolve) => socket?.end(resolve));
  } finally {
    socket?.destroy();
  }
}
