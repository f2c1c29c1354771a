import { createServer, type Socket } from "node:net";
import { bindUdp, onOnePort } from "./one-port.ts";

/** Response for a name: its addresses of each family, none at all, or only over TCP, which stays silent. */
export type NameAnswer = readonly string[] | "silence" | "only over TCP, which is silent" | "silence for IPv6";

/** A name server on this machine, for tests. */
export interface NameServer {
  /** Address for the option `nameServers`. */
  readonly address: string;
  /** Queries, in order: `A hooks.example.com`. */
  readonly queries: readonly string[];
  /** Number of open connections over TCP. */
  readonly connections: number;
  close(): Promise<void>;
}

const TYPES = new Map([
  [1, "A"],
  [28, "AAAA"],
  [33, "SRV"],
  [35, "NAPTR"],
]);

/** Starts a name server over UDP and TCP. Names unknown to `answer` do not exist. */
export async function startNameServer(answer: (name: string) => NameAnswer | undefined): Promise<NameServer> {
  const queries: string[] = [];
  const openConnections = new Set<Socket>();
  const tcp = createServer((connection) => {
    openConnections.add(connection);
    connection.on("error", () => {});
    connection.on("close", () => openConnections.delete(connection));
    connection.resume();
  });
  const socket = await onOnePort(tcp, bindUdp);
  const { port } = socket.address();
  socket.on("message", (datagram, from) => {
    const { name, type, end } = questionOf(datagram);
    queries.push(`${type} ${name}`);
    const result = answer(name);
    if (result === "silence" || (result === "silence for IPv6" && type === "AAAA")) return;
    const records = typeof result === "object" ? result : result === "silence for IPv6" ? ["127.0.0.1"] : [];
    const answers = records.filter((record) => type === (record.includes(":") ? "AAAA" : "A")).map(recordOf);
    const head = Buffer.alloc(12);
    datagram.copy(head, 0, 0, 2);
    const truncatedFlag = result === "only over TCP, which is silent" ? 0x0200 : 0;
    head.writeUInt16BE(0x8180 | truncatedFlag | (result === undefined ? 3 : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([head, datagram.subarray(12, end), ...answers]), from.port, from.address);
  });
  return {
    address: `127.0.0.1:${port}`,
    queries,
    get connections() {
      return openConnections.size;
    },
    async close() {
      for (const connection of openConnections) connection.destroy();
      await Promise.all([
        new Promise<void>((closed) => socket.close(() => closed())),
        new Promise<void>((closed) => tcp.close(() => closed())),
      ]);
    },
  };
}

function questionOf(datagram: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = datagram[at] ?? 0; length > 0; length = datagram[at] ?? 0) {
    labels.push(datagram.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = datagram.readUInt16BE(at + 1);
  return { name: labels.join(".").toLowerCase(), type: TYPES.get(type) ?? String(type), end: at + 5 };
}

/** A record of the name in the question, valid for a minute. */
function recordOf(address: string): Buffer {
  const isIpv6 = address.includes(":");
  // Tests only need IPv6 addresses with `::`.
  const [before = "", after = ""] = address.split("::");
  const pairs = (text: string): number[] =>
    text === ""
      ? []
      : text.split(":").flatMap((pair) => [Number.parseInt(pair, 16) >> 8, Number.parseInt(pair, 16) & 255]);
  const [first, last] = [pairs(before), pairs(after)];
  const bytes = isIpv6
    ? [...first, ...new Array<number>(16 - first.length - last.length).fill(0), ...last]
    : address.split(".").map(Number);
  return Buffer.from([0xc0, 12, 0, isIpv6 ? 28 : 1, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]);
}
