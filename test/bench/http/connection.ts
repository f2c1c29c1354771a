import { connect, type Socket } from "node:net";
import { responseReader } from "./response-reader.ts";

/**
 * A keep-alive connection to a server.
 * @param onResponse called with each response's status, in the order of the requests
 */
export async function openConnection(
  url: string,
  onResponse: (status: number) => void,
  onLost: (error: Error) => void,
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", onLost);
  socket.on("end", () => onLost(new Error(`${url} ended a connection`)));
  const read = responseReader(onResponse);
  socket.on("data", (chunk) => {
    try {
      read(chunk);
    } catch (error) {
      onLost(error as Error);
    }
  });
  return socket;
}
