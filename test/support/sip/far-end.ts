import { createSocket, type RemoteInfo } from "node:dgram";
import { FarEndCall, type Response, type Transport } from "./far-end-call.ts";
import { type Challenge, Gate } from "./gate.ts";
import type { Script } from "./script.ts";
import { field, fieldsNamed, methodOf, parameter, readSip, type SipText, userOf, writeSip } from "./sip-text.ts";

export type { FarEndCall } from "./far-end-call.ts";
export { callees, type Script } from "./script.ts";

export interface FarEndOptions {
  /** Behaviour of each callee, by the called user part; `*` for all others. Unlisted ones do not exist: 404. */
  readonly callees?: Readonly<Record<string, Script>>;
  /** Host. Default: `127.0.0.1`. */
  readonly address?: string;
  /** Port. Default: a free one. */
  readonly port?: number;
  /** Credentials that REGISTER requires. Default: none. */
  readonly registrar?: { readonly challenge?: Challenge; readonly expires?: number };
  /** Address that it reports for us, as behind a NAT (RFC 3581). Default: the real one. */
  readonly reportedAddress?: string;
  /** Called for each incoming call, before any response. */
  readonly onInvite?: (call: FarEndCall) => void;
}

/** A SIP server with callees behind it, on UDP: the other side of every call in a test. */
export interface FarEnd {
  readonly address: string;
  readonly port: number;
  /** SIP URI for a trunk's `server`: `sip:127.0.0.1:5060`. */
  readonly uri: string;
  /** The calls received, in order. */
  readonly calls: readonly FarEndCall[];
  /** Every request received. */
  readonly requests: readonly SipText[];
  /** Accepted REGISTERs. */
  readonly registrations: readonly { readonly contact: string; readonly expires: number }[];
  /** Response to later OPTIONS and REGISTER; `silence` for none. Default: 200. */
  health: number | "silence";
  /** True to stop receiving and sending, calls included, as if the cable were unplugged. */
  isUnplugged: boolean;
  /** The n-th call, once it arrives. */
  call(n?: number): Promise<FarEndCall>;
  close(): Promise<void>;
}

/** Starts a remote end. */
export async function startFarEnd(options: FarEndOptions = {}): Promise<FarEnd> {
  const { callees = {}, address = "127.0.0.1", registrar = {} } = options;
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(options.port ?? 0, address, resolve);
  });
  socket.on("error", () => {});
  const { port } = socket.address();
  const gate = registrar.challenge && new Gate(registrar.challenge);
  const calls: FarEndCall[] = [];
  const requests: SipText[] = [];
  const registrations: { contact: string; expires: number }[] = [];
  const watchers = new Set<() => void>();
  /** The last response by branch and method, for retransmissions of the request. */
  const lastResponses = new Map<string, Buffer | undefined>();

  const transport: Transport = {
    address,
    port,
    send(text, to) {
      if (!farEnd.isUnplugged) socket.send(writeSip(text), to.port, to.address, () => {});
    },
    respond(request, from, response) {
      const datagram = writeSip(
        responseText(request, { ...from, address: options.reportedAddress ?? from.address }, response),
      );
      lastResponses.set(transactionOf(request), datagram);
      if (!farEnd.isUnplugged) socket.send(datagram, from.port, from.address, () => {});
    },
  };

  function receive(datagram: Buffer, from: RemoteInfo): void {
    if (farEnd.isUnplugged || datagram.toString("latin1").trim() === "") return; // a keep-alive
    const text = readSip(datagram);
    const method = methodOf(text);
    const call = calls.find(({ callId }) => callId === field(text, "Call-ID"));
    if (method === "") {
      call?.handleResponse(text);
      return;
    }
    requests.push(text);
    const transaction = transactionOf(text);
    const isRepeat = lastResponses.has(transaction);
    call?.requests.push({ method, text, at: performance.now(), isRepeat });
    const earlierResponse = lastResponses.get(transaction);
    if (isRepeat && earlierResponse) socket.send(earlierResponse, from.port, from.address, () => {});
    if (isRepeat && method !== "ACK") return;
    lastResponses.set(transaction, undefined);
    const { health } = farEnd;
    if (call) void call.handleRequest(text, from);
    else if (method === "INVITE") onInvite(text, from);
    else if (method === "OPTIONS" || method === "REGISTER") {
      if (health === "silence") lastResponses.delete(transaction);
      else transport.respond(text, from, outsideCalls(method, text, health));
    } else if (method !== "ACK") transport.respond(text, from, { status: 481, reason: "Call Does Not Exist" });
  }

  function onInvite(invite: SipText, from: RemoteInfo): void {
    const script = callees[userOf(invite.start.split(" ")[1] ?? "")] ?? callees["*"];
    const notFound: Script = { rings: [], status: 404, reason: "Not Found" };
    const call = new FarEndCall(invite, script ?? notFound, transport);
    call.requests.push({ method: "INVITE", text: invite, at: performance.now(), isRepeat: false });
    calls.push(call);
    options.onInvite?.(call);
    void call.handleRequest(invite, from);
    for (const check of [...watchers]) check();
  }

  /** Response to OPTIONS and REGISTER. */
  function outsideCalls(method: string, request: SipText, status: number): Response {
    if (status !== 200 || method === "OPTIONS") return { status };
    const challenge = gate?.refuse(method, request.start.split(" ")[1] ?? "", field(request, "Authorization"));
    if (challenge) return { status: 401, reason: "Who Are You", fields: challenge };
    const contact = field(request, "Contact");
    const expirySeconds = Number(parameter(contact, "expires") ?? (field(request, "Expires") || 3600));
    const expires = Math.min(expirySeconds, registrar.expires ?? expirySeconds);
    registrations.push({ contact, expires });
    if (expires === 0) return { status };
    return { status, fields: [["Contact", `${contact.replace(/;expires=\d+/, "")};expires=${expires}`]] };
  }

  socket.on("message", receive);
  const farEnd: FarEnd = {
    ...{ address, port, calls, requests, registrations },
    uri: `sip:${address.includes(":") ? `[${address}]` : address}:${port}`,
    health: 200,
    isUnplugged: false,
    call(n = 0) {
      return new Promise((resolve, reject) => {
        const check = (): void => {
          const call = calls[n];
          if (!call) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve(call);
        };
        const timer = setTimeout(() => reject(new Error(`call ${n} did not arrive within 5 s`)), 5_000);
        watchers.add(check);
        check();
      });
    },
    async close() {
      farEnd.isUnplugged = true; // pending work stays silent
      for (const call of calls) call.close();
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
  return farEnd;
}

const transactionOf = (request: SipText): string =>
  `${parameter(field(request, "Via"), "branch")} ${methodOf(request)}`;

function responseText(request: SipText, from: RemoteInfo, response: Response): SipText {
  const { status, reason = "", fields = [], body = "", tag } = response;
  const [via, ...vias] = fieldsNamed(request, "Via");
  const viaValue = (via?.[1] ?? "").replace(/;rport(?=[;,\s]|$)/, `;received=${from.address};rport=${from.port}`);
  const to = field(request, "To");
  const toValue = tag === undefined || /;\s*tag=/i.test(to) ? to : `${to};tag=${tag}`;
  const copiedFields = ["From", "Call-ID", "CSeq", "Record-Route"].flatMap((name) => fieldsNamed(request, name));
  return {
    start: `SIP/2.0 ${status} ${reason}`,
    fields: [["Via", viaValue], ...vias, ["To", toValue], ...copiedFields, ...fields],
    body,
  };
}
