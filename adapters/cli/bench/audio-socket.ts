import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { MeasurementFailed } from "./bench-job.ts";

/** Messages from the server; kinds without a handler are ignored. */
export interface AudioSocketListener {
  /** A binary message; valid only during the call. */
  audio?(bytes: Buffer): void;
  text?(text: string): void;
  /** Called when the connection is closed; 1006 without a close frame. */
  closed?(code: number): void;
}

export interface AudioSocket {
  /** Sends the result of {@link message}; its bytes are neither copied nor changed. */
  write(message: Buffer): void;
  /** Sends a close frame; resolves when the connection is closed. */
  close(code?: number): Promise<void>;
  /** Breaks the connection. */
  destroy(): void;
}

const MASK = [0x37, 0xfa, 0x21, 0x3d] as const;
const [TEXT, BINARY, CLOSE, PING, PONG] = [1, 2, 8, 9, 10] as const;

/** A whole message as a client sends it, masked (RFC 6455 section 5.2); text is sent as text. */
export function message(content: string | Uint8Array): Buffer {
  return frame(typeof content === "string" ? TEXT : BINARY, Buffer.from(content));
}

function frame(opcode: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  if (payload.length > 0xffff) throw new RangeError("a payload may have at most 65,535 bytes");
  return Buffer.from([0x80 | opcode, ...length, ...MASK, ...payload.map((byte, i) => byte ^ MASK[i & 3]!)]);
}

/**
 * A WebSocket on a bare socket, which needs a fraction of the processor time of a client from npm. Reads only whole,
 * uncompressed messages.
 * @param token caller's token. Default: the user in the URL; benchmark servers accept any
 * @throws {MeasurementFailed} the server did not upgrade; the message shows its response
 */
export async function openAudioSocket(
  url: string,
  listener: AudioSocketListener,
  token = new URL(url).username || "bench",
): Promise<AudioSocket> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let code = 1006;
  let unreadBytes: Buffer = Buffer.alloc(0);
  let isUpgraded = false;
  const closePromise = new Promise<void>((resolve) => {
    socket.once("close", () => {
      resolve();
      if (isUpgraded) listener.closed?.(code);
    });
  });
  const receive = (opcode: number, payload: Buffer): void => {
    if (opcode === BINARY) listener.audio?.(payload);
    else if (opcode === TEXT) listener.text?.(payload.toString());
    else if (opcode === PING) socket.write(frame(PONG, payload));
    else if (opcode === CLOSE) {
      code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
      socket.end(frame(CLOSE, payload));
    }
  };
  const readFrames = (chunk: Buffer): void => {
    unreadBytes = unreadBytes.length === 0 ? chunk : Buffer.concat([unreadBytes, chunk]);
    while (unreadBytes.length >= 2) {
      const shortLength = unreadBytes[1]! & 127;
      const head = shortLength < 126 ? 2 : 4;
      if (shortLength === 127 || unreadBytes[0]! < 0x80)
        throw new MeasurementFailed("unsupported message: fragmented, or longer than 65,535 bytes");
      if (unreadBytes.length < head) return;
      const end = head + (shortLength < 126 ? shortLength : unreadBytes.readUInt16BE(2));
      if (unreadBytes.length < end) return;
      receive(unreadBytes[0]! & 15, unreadBytes.subarray(head, end));
      unreadBytes = unreadBytes.subarray(end);
    }
  };
  const remainder = await handshake(socket, `${pathname}${search}`, token);
  isUpgraded = true;
  socket.on("error", () => {});
  socket.on("data", readFrames);
  if (remainder.length > 0) readFrames(remainder);
  return {
    write: (bytes) => void socket.write(bytes),
    async close(status = 1000) {
      code = status;
      if (!socket.destroyed) socket.write(frame(CLOSE, Buffer.from([status >> 8, status & 255])));
      await closePromise;
    },
    destroy: () => socket.destroy(),
  };
}

/** Returns the bytes after the handshake. */
function handshake(socket: Socket, path: string, token: string): Promise<Buffer> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    let response: Buffer = Buffer.alloc(0);
    const fail = (): void => reject(new MeasurementFailed(`${path} was not upgraded: ${response.toString("latin1")}`));
    const onData = (chunk: Buffer): void => {
      response = Buffer.concat([response, chunk]);
      const end = response.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!response.toString("latin1", 0, end).startsWith("HTTP/1.1 101")) {
        setTimeout(fail, 50); // the body has the reason
        return;
      }
      socket.off("data", onData).off("error", reject).off("close", fail);
      resolve(response.subarray(end + 4));
    };
    socket.on("data", onData).once("error", reject).once("close", fail);
  });
}
