import { createHash } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import type { Socket } from "node:net";
import { connect, createServer, type Server } from "node:tls";
import type { Authority } from "../../../support/certificates.ts";
import { field, fieldsNamed, methodOf, readSip, type SipText, writeSip } from "../../../support/sip/sip-text.ts";

const REALM = "wa.meta.vc";

/**
 * The peer as described in Meta's documentation: TLS, a challenge with SHA-256, no ringing, SDES and Opus, two proxies
 * in the route set, and its own requests on connections that it opens.
 */
export class Meta {
  readonly requests: SipText[] = [];
  /** Number of received SRTP packets. */
  packets = 0;
  port = 0;
  readonly #authority: Authority;
  readonly #password: string;
  readonly #server: Server;
  readonly #rtp: UdpSocket = createSocket("udp4");
  readonly #sockets = new Set<Socket>();
  #refusal: string | undefined;
  #invite: SipText | undefined;

  private constructor(authority: Authority, password: string) {
    this.#authority = authority;
    this.#password = password;
    this.#server = createServer(authority.issue({ names: [REALM] }), (socket) => this.#accept(socket));
  }

  static async open(authority: Authority, password: string): Promise<Meta> {
    const meta = new Meta(authority, password);
    meta.#rtp.on("message", () => meta.packets++);
    await new Promise<void>((resolve) => meta.#rtp.bind(0, "127.0.0.1", resolve));
    await new Promise<void>((resolve) => meta.#server.listen(0, "127.0.0.1", resolve));
    meta.port = (meta.#server.address() as { port: number }).port;
    return meta;
  }

  /** Refuses all later calls with 403 and this phrase. */
  refuse(phrase: string): void {
    this.#refusal = phrase;
  }

  /** The requests with this method, in order. */
  requestsOf(method: string): SipText[] {
    return this.requests.filter((request) => methodOf(request) === method);
  }

  /** Hangs up as the callee: sends BYE on a new connection to our listener; resolves with the status line. */
  async hangUp(port: number, host: string): Promise<string> {
    const invite = this.#invite!;
    const socket = connect({ port, host: "127.0.0.1", servername: host, ca: this.#authority.ca });
    this.#sockets.add(socket);
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    socket.write(
      writeSip({
        start: `BYE ${/<([^>]*)>/.exec(field(invite, "Contact"))?.[1]} SIP/2.0`,
        fields: [
          ["Via", `SIP/2.0/TLS ${REALM}:5061;branch=z9hG4bKbye`],
          ["Max-Forwards", "70"],
          ["From", `${field(invite, "To")};tag=meta`],
          ["To", field(invite, "From")],
          ["Call-ID", field(invite, "Call-ID")],
          ["CSeq", "1 BYE"],
          ["x-wa-meta-call-duration", "3"],
        ],
        body: "",
      }),
    );
    return await new Promise((resolve) => socket.once("data", (bytes) => resolve(readSip(bytes).start)));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#rtp.close(resolve));
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    let pending = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      for (;;) {
        const end = pending.indexOf("\r\n\r\n");
        const head = pending.subarray(0, Math.max(0, end)).toString();
        const length = Number(/^Content-Length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (end < 0 || pending.length < end + 4 + length) return;
        const request = pending.subarray(0, end + 4 + length);
        pending = pending.subarray(request.length);
        if (head.trim() !== "") this.#receive(readSip(request), socket);
      }
    });
  }

  #receive(request: SipText, socket: Socket): void {
    this.requests.push(request);
    const method = methodOf(request);
    const respond = (start: string, extraFields: SipText["fields"] = [], body = ""): void => {
      const copiedFields = ["Via", "From", "Call-ID", "CSeq"].flatMap((name) => fieldsNamed(request, name));
      const to = field(request, "To");
      const toWithTag = to.includes(";tag=") ? to : `${to};tag=meta`;
      socket.write(
        writeSip({ start: `SIP/2.0 ${start}`, fields: [...copiedFields, ["To", toWithTag], ...extraFields], body }),
      );
    };
    if (method === "BYE") respond("200 OK");
    else if (method === "OPTIONS") respond("404 Not Found");
    else if (method === "INVITE") this.#receiveInvite(request, respond);
  }

  #receiveInvite(
    invite: SipText,
    respond: (start: string, extraFields?: SipText["fields"], body?: string) => void,
  ): void {
    if (!this.#isAuthenticated(invite)) {
      const challenge = `Digest realm="${REALM}", nonce="n1", opaque="o1", algorithm=SHA-256, qop="auth"`;
      respond("407 Proxy Authentication Required", [["Proxy-Authenticate", challenge]]);
      return;
    }
    if (this.#refusal !== undefined) {
      respond(`403 ${this.#refusal}`);
      return;
    }
    this.#invite = invite;
    respond("100 Trying");
    const key = Buffer.alloc(30, 7).toString("base64");
    const [, payload] = /^m=audio \d+ RTP\/SAVP (\d+)/m.exec(invite.body) ?? [];
    respond(
      "200 OK",
      [
        ["Record-Route", `<sip:onevc-sip-proxy.example;transport=tls;lr>`],
        ["Record-Route", `<sip:127.0.0.1:${this.port};transport=tls;lr>`],
        ["Contact", "<sip:callee@onevc.example;transport=tls>"],
        ["Content-Type", "application/sdp"],
      ],
      [
        "v=0",
        "o=- 1 1 IN IP4 127.0.0.1",
        "s=-",
        "c=IN IP4 127.0.0.1",
        "t=0 0",
        `m=audio ${this.#rtp.address().port} RTP/SAVP ${payload}`,
        `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`,
        `a=rtpmap:${payload} opus/48000/2`,
        "a=rtcp-mux",
        "a=ptime:20",
        "a=sendrecv",
        "",
      ].join("\r\n"),
    );
  }

  #isAuthenticated(invite: SipText): boolean {
    const credentials = field(invite, "Proxy-Authorization");
    const parameter = (name: string): string => new RegExp(`\\b${name}="?([^",]*)`).exec(credentials)?.[1] ?? "";
    const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
    const uri = invite.start.split(" ")[1]!;
    const [userHash, requestHash] = [
      hash(`${parameter("username")}:${REALM}:${this.#password}`),
      hash(`INVITE:${uri}`),
    ];
    const expectedResponse = hash(
      [userHash, "n1", parameter("nc"), parameter("cnonce"), "auth", requestHash].join(":"),
    );
    return parameter("uri") === uri && parameter("opaque") === "o1" && parameter("response") === expectedResponse;
  }
}
