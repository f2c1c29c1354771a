import { createSocket, type RemoteInfo } from "node:dgram";
import process from "node:process";
import { createInterface } from "node:readline";
import { commandHere, isProgram, startProgram } from "../harness/programs.ts";

/** A SIP server in a separate process whose callees all answer immediately, with the echo's address for audio. */
export interface Callees {
  /** SIP URI for a trunk's `server`. */
  readonly uri: string;
  /** Arrival time of each callee's INVITE, by called user: ms since 1970 with fractions. */
  invites(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** Options of the process. */
interface CalleesOptions {
  /** Port for audio on 127.0.0.1. */
  readonly echo: number;
  /** Time after the ACK at which the callee hangs up, ms; 0 for never. */
  readonly hangUpMs: number;
}

/** Starts the callees under this runtime. */
export async function startCallees(options: CalleesOptions): Promise<Callees> {
  const program = startProgram(commandHere(import.meta.url, JSON.stringify(options)));
  return {
    uri: `sip:127.0.0.1:${await program.line()}`,
    invites: async () => JSON.parse(await program.request("invites")),
    stop: () => program.end(),
  };
}

/** Runs the callees, if this file is the program. They handle only Ringport's requests, parsed line by line. */
function runCallees({ echo, hangUpMs }: CalleesOptions): void {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 << 20 });
  const invites: Record<string, number> = {};
  const acknowledgedIds = new Set<string>();
  let tags = 0;

  const respond = (
    fields: Map<string, string[]>,
    from: RemoteInfo,
    status: string,
    extraFields = "",
    body = "",
  ): void => {
    const copiedFields = ["via", "from", "call-id", "cseq"].flatMap((name) => fields.get(name) ?? []);
    const text = `SIP/2.0 ${status}\r\n${copiedFields.join("\r\n")}\r\n${extraFields}Content-Length: ${body.length}\r\n\r\n${body}`;
    socket.send(text, from.port, from.address);
  };
  const fieldValue = (fields: Map<string, string[]>, name: string): string =>
    (fields.get(name)?.[0] ?? "").replace(/^[^:]*:\s*/, "");

  socket.on("message", (bytes, from) => {
    const now = performance.timeOrigin + performance.now();
    const [start = "", ...fieldLines] = bytes.toString("latin1").split("\r\n\r\n", 1)[0]?.split("\r\n") ?? [];
    const fields = new Map<string, string[]>();
    for (const line of fieldLines) {
      const name = line.slice(0, line.indexOf(":")).toLowerCase();
      fields.set(name, [...(fields.get(name) ?? []), line]);
    }
    const [method = "", uri = ""] = start.split(" ");
    const to = fields.get("to")?.[0] ?? "";
    if (method === "INVITE") {
      const user = /sip:([^@]*)@/.exec(uri)?.[1] ?? "";
      if (user in invites) return; // a retransmission: the 200 has been sent
      invites[user] = now;
      const { port } = socket.address();
      const sdp = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${echo} RTP/AVP 0\r\na=rtcp-mux\r\n`;
      const contact = `Contact: <sip:callee@127.0.0.1:${port}>\r\nContent-Type: application/sdp\r\n`;
      respond(fields, from, "200 OK", `${to};tag=c${++tags}\r\n${contact}`, sdp);
    } else if (method === "ACK") {
      const callId = fieldValue(fields, "call-id");
      if (hangUpMs === 0 || acknowledgedIds.has(callId)) return;
      acknowledgedIds.add(callId);
      setTimeout(() => {
        const { port } = socket.address();
        const bye = [
          `BYE sip:caller@${from.address}:${from.port} SIP/2.0`,
          `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bKb${callId}`,
          "Max-Forwards: 70",
          `From: ${fieldValue(fields, "to")}`,
          `To: ${fieldValue(fields, "from")}`,
          `Call-ID: ${callId}`,
          "CSeq: 1 BYE",
          "Content-Length: 0",
        ];
        socket.send(`${bye.join("\r\n")}\r\n\r\n`, from.port, from.address);
      }, hangUpMs);
    } else if (method === "BYE" || method === "OPTIONS" || method === "CANCEL")
      respond(fields, from, "200 OK", `${to}\r\n`);
  });
  socket.bind(0, "127.0.0.1", () => console.log(socket.address().port));
  createInterface(process.stdin)
    .on("line", () => console.log(JSON.stringify(invites)))
    .on("close", () => process.exit(0));
}

if (isProgram(import.meta.url)) runCallees(JSON.parse(process.argv[2] ?? "{}"));
