import { randomBytes } from "node:crypto";
import type { RemoteInfo } from "node:dgram";
import { CalleeAudio } from "./callee-audio.ts";
import { Gate } from "./gate.ts";
import { readOffer } from "./offer.ts";
import { Retransmissions } from "./retransmissions.ts";
import type { Script } from "./script.ts";
import {
  type Field,
  field,
  fieldsNamed,
  methodOf,
  parameter,
  type SipText,
  statusOf,
  uriIn,
  userOf,
} from "./sip-text.ts";
import type { Voice } from "./voice.ts";

/** Network access of a call. */
export interface Transport {
  readonly address: string;
  readonly port: number;
  send(text: SipText, to: RemoteInfo): void;
  /** Responds to a request; repeats the last response for a retransmission. */
  respond(request: SipText, from: RemoteInfo, response: Response): void;
}

export interface Response {
  readonly status: number;
  readonly reason?: string | undefined;
  readonly fields?: readonly Field[];
  readonly body?: string;
  /** Tag of To, if there is one. */
  readonly tag?: string;
}

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  readonly text: SipText;
  /** Arrival time, ms, monotonic. */
  readonly at: number;
  /** True for a retransmission. */
  readonly isRepeat: boolean;
}

const SDP: Field = ["Content-Type", "application/sdp"];
const MIRRORED_DIRECTIONS: Readonly<Record<string, string>> = {
  sendonly: "recvonly",
  recvonly: "sendonly",
  inactive: "inactive",
};
const REASON_PHRASES: Readonly<Record<number, string>> = { 100: "Trying", 180: "Ringing", 200: "OK", 486: "Busy Here" };
const ALLOW: Field = ["Allow", "INVITE, ACK, BYE, CANCEL, INFO, UPDATE, PRACK"];

/** A call that reached a remote end. */
export class FarEndCall {
  readonly callId: string;
  /** The called user part. */
  readonly user: string;
  readonly requests: ReceivedRequest[] = [];
  /** Keys received by SIP INFO. */
  infoKeys = "";
  /** End of the call; undefined while it is live. */
  end: "refused" | "cancelled" | "caller hung up" | "callee hung up" | undefined;
  readonly #script: Script;
  readonly #transport: Transport;
  readonly #gate: Gate | undefined;
  readonly #tag: string = randomBytes(4).toString("hex");
  readonly #retransmissions = new Retransmissions();
  /** Functions by tag that stop the repetition of a final response. */
  readonly #stopFunctions = new Map<string, () => void>();
  /** Waiters for responses to our requests, by CSeq. */
  readonly #pendingResponses = new Map<string, (response: SipText) => void>();
  /** Resolves when the answer has been acknowledged. */
  readonly established: Promise<void>;
  #acknowledge: () => void = () => {};
  #onPrack: () => void = () => {};
  #audio: CalleeAudio | undefined;
  #announcement: CalleeAudio | undefined;
  #invite: SipText | undefined;
  #remote: RemoteInfo | undefined;
  #isAnswered = false;
  #ownCSeq = 100;
  #isClosed = false;

  constructor(invite: SipText, script: Script, transport: Transport) {
    this.callId = field(invite, "Call-ID");
    this.user = userOf(invite.start.split(" ")[1] ?? "");
    this.#script = script;
    this.#transport = transport;
    this.#gate = script.challenge && new Gate(script.challenge);
    this.established = new Promise((resolve) => {
      this.#acknowledge = resolve;
    });
  }

  /** Audio of the callee, once an offer has arrived. */
  get voice(): Voice | undefined {
    return this.#audio?.voice;
  }

  /** Keys received by telephone-event or INFO. */
  get keys(): string {
    return (this.voice?.keys ?? "") + this.infoKeys;
  }

  /** Audio heard, at 8000 Hz, with G.722 at 16000; `voice.heard()` also returns the gaps. */
  get heard(): Int16Array {
    return this.voice?.heardAudio().samples ?? new Int16Array();
  }

  /** Number of distinct requests received with this method. */
  count(method: string): number {
    return this.requests.filter((request) => request.method === method && !request.isRepeat).length;
  }

  /** Handles a new request of this call. */
  async handleRequest(request: SipText, from: RemoteInfo): Promise<void> {
    this.#remote = from;
    const respond = (response: Response): void => this.#transport.respond(request, from, response);
    const tag = parameter(field(request, "To"), "tag");
    switch (methodOf(request)) {
      case "INVITE":
        if (tag !== undefined) return this.#onReoffer(request, from);
        if (this.end === "refused") this.end = undefined; // a repeated request, as after a redirection
        return this.#onInvite(request, from);
      case "UPDATE":
        return this.#onReoffer(request, from);
      case "ACK":
        this.#stopFunctions.get(tag ?? "")?.();
        if (this.#isAnswered && tag === this.#tag) this.#acknowledge();
        return;
      case "CANCEL":
        respond({ status: 200 });
        if (this.end || this.#isAnswered || !this.#invite) return;
        if (this.#script.ignoresCancel) return this.#answer(this.#invite, from);
        this.end = "cancelled";
        return this.#respondFinally(this.#invite, from, { status: 487, reason: "Request Terminated" });
      case "BYE": {
        const refusal = this.#script.byeResponses?.[this.count("BYE") - 1];
        if (refusal !== undefined) return respond(refusal);
        respond({ status: this.#isAnswered ? 200 : 481 });
        if (tag === this.#tag) this.#finish("caller hung up");
        return;
      }
      case "INFO":
        if (this.#script.refusesInfo) return respond({ status: 415, reason: "Unsupported Media Type" });
        this.infoKeys += /^Signal\s*=\s*(\S)/im.exec(request.body)?.[1] ?? "";
        return respond({ status: 200 });
      case "OPTIONS": {
        const { options = 200 } = this.#script;
        return options === "silence" ? undefined : respond({ status: options });
      }
      case "PRACK":
        this.#onPrack();
        return respond({ status: 200 });
      case "REFER": {
        const reports = this.#script.transfers?.[userOf(uriIn(field(request, "Refer-To")))];
        respond(reports ? { status: 202, reason: "Accepted" } : { status: 603, reason: "Decline" });
        return reports && this.#sendReports(reports);
      }
      default:
        return respond({ status: 501, reason: "Not Implemented" });
    }
  }

  /** Handles a response to our request. */
  handleResponse(response: SipText): void {
    this.#pendingResponses.get(field(response, "CSeq"))?.(response);
  }

  async hangUp(fields: readonly Field[] = []): Promise<void> {
    if (this.end) return;
    this.end = "callee hung up";
    await this.request("BYE", fields);
    this.#finish("callee hung up");
  }

  /** Holds (`sendonly`, `inactive`) or resumes (`sendrecv`); returns the final response. */
  async reinvite(direction: string, method: "INVITE" | "UPDATE" = "INVITE"): Promise<SipText> {
    const response = await this.request(method, [SDP], this.#audio?.sdp(direction));
    if (statusOf(response) < 300) this.#audio?.startSpeaking(direction);
    return response;
  }

  /** Sends a request within the dialog; returns its final response, which it acknowledges. */
  request(method: string, fields: readonly Field[] = [], body = ""): Promise<SipText> {
    const [invite, from] = [this.#invite, this.#remote];
    if (!invite || !from) return Promise.reject(new Error("no call has arrived"));
    const number = ++this.#ownCSeq;
    const write = (name: string, extraFields: readonly Field[], content: string): SipText => ({
      start: `${name} ${uriIn(field(invite, "Contact"))} SIP/2.0`,
      fields: [
        ["Via", `SIP/2.0/UDP ${this.#host};rport;branch=z9hG4bK${randomBytes(6).toString("hex")}`],
        ["Max-Forwards", "70"],
        ...fieldsNamed(invite, "Record-Route").map(([, value]): Field => ["Route", value]),
        ["From", `${field(invite, "To")};tag=${this.#tag}`],
        ["To", field(invite, "From")],
        ["Call-ID", this.callId],
        ["CSeq", `${number} ${name}`],
        this.#contact,
        ...extraFields,
      ],
      body: content,
    });
    const request = write(method, fields, body);
    return new Promise((resolve) => {
      const stop = this.#retransmissions.repeat(() => this.#transport.send(request, from));
      this.#pendingResponses.set(`${number} ${method}`, (response) => {
        if (statusOf(response) < 200) return;
        stop();
        const answer = method === "INVITE" && body === "" ? this.#sdpAnswerTo(response.body) : "";
        if (method === "INVITE") this.#transport.send(write("ACK", answer ? [SDP] : [], answer), from);
        resolve(response);
      });
    });
  }

  /** The answer to the offer of a 2xx; starts speaking as it allows. "" if there was no offer. */
  #sdpAnswerTo(offer: string): string {
    if (!offer || !this.#audio?.applyOffer(offer)) return "";
    const direction = MIRRORED_DIRECTIONS[readOffer(offer).direction] ?? "sendrecv";
    this.#audio.startSpeaking(direction);
    return this.#audio.sdp(direction);
  }

  /** Stops all sending. */
  close(): void {
    this.#isClosed = true;
    this.#retransmissions.stop();
    this.#announcement?.voice.close();
    this.voice?.close();
  }

  async #onInvite(invite: SipText, from: RemoteInfo): Promise<void> {
    const refusal = this.#refusal(invite);
    if (refusal) return this.#respondFinally(invite, from, refusal);
    this.#invite = invite;
    const { rings = [180], reliable = false, announcement, allFields = [] } = this.#script;
    this.#transport.respond(invite, from, { status: 100, reason: "Trying" });
    this.#audio ??= await CalleeAudio.open(this.#script, this.#transport.address);
    if (announcement) this.#announcement ??= await CalleeAudio.open({ says: announcement }, this.#transport.address);
    const earlyAudio = this.#announcement ?? (this.#script.earlyMedia ? this.#audio : undefined);
    if (this.#isClosed) {
      this.#announcement?.voice.close();
      return this.#audio.voice.close();
    }
    this.#announcement?.applyOffer(invite.body);
    if (!this.#audio.applyOffer(invite.body)) {
      this.end = "refused";
      return this.#respondFinally(invite, from, { status: 488, reason: "Not Acceptable Here" });
    }
    for (const [i, status] of rings.entries()) {
      const [fields, body] = [[this.#contact, ...allFields], earlyAudio?.sdp() ?? ""];
      if (body) fields.push(SDP);
      if (reliable) fields.push(["Require", "100rel"], ["RSeq", String(i + 1)]);
      earlyAudio?.startSpeaking();
      const send = (): void => this.#transport.respond(invite, from, { status, fields, body, tag: this.#tag });
      if (reliable) await this.#repeatUntilPrack(send);
      else send();
    }
    const { status = 200, reason, fields = [], afterMs = 0, before } = this.#script;
    await before?.(this);
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    if (status === "never" || this.end || this.#isClosed) return;
    if (status < 300) return this.#answer(invite, from);
    this.end = "refused";
    const { description: body = "" } = this.#script;
    const sdpHeader = body === "" ? [] : [SDP];
    this.#respondFinally(invite, from, { status, reason, fields: [...fields, ...allFields, ...sdpHeader], body });
  }

  /** Reports the progress of the transfer by NOTIFY (RFC 3515). */
  async #sendReports(reports: readonly (number | "leaves")[]): Promise<void> {
    for (const report of reports) {
      if (this.end) return;
      if (report === "leaves") await this.hangUp();
      else
        await this.request(
          "NOTIFY",
          [
            ["Event", "refer"],
            ["Subscription-State", report < 200 ? "active;expires=60" : "terminated;reason=noresource"],
            ["Content-Type", "message/sipfrag;version=2.0"],
          ],
          `SIP/2.0 ${report} ${REASON_PHRASES[report] ?? ""}\r\n`,
        );
    }
  }

  #refusal(invite: SipText): Response | undefined {
    const status = this.#script.challenge?.status ?? 401;
    const credentials = field(invite, status === 401 ? "Authorization" : "Proxy-Authorization");
    const fields = this.#gate?.refuse("INVITE", invite.start.split(" ")[1] ?? "", credentials);
    return fields && { status, reason: "Who Are You", fields };
  }

  async #repeatUntilPrack(send: () => void): Promise<void> {
    await new Promise<void>((resolve) => {
      const stop = this.#retransmissions.repeat(send);
      this.#onPrack = () => {
        stop();
        resolve();
      };
    });
  }

  async #answer(invite: SipText, from: RemoteInfo): Promise<void> {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { reason = "OK", fields = [], allFields = [], forks = 1, acts } = this.#script;
    const body = this.#audio?.sdp() ?? "";
    const answerFields = [this.#contact, ALLOW, ...fields, ...allFields, ...(body ? [SDP] : [])];
    this.#announcement?.voice.close();
    this.#audio?.startSpeaking(this.#script.fallsSilent ? "inactive" : undefined);
    for (let fork = 0; fork < forks; fork++) {
      const tag = fork === 0 ? this.#tag : `${this.#tag}-${fork}`;
      this.#respondFinally(invite, from, { status: 200, reason, fields: answerFields, body, tag });
    }
    await this.established;
    await acts?.(this);
  }

  #onReoffer(request: SipText, from: RemoteInfo): void {
    if (request.body) this.#audio?.applyOffer(request.body);
    const body = request.body || methodOf(request) === "INVITE" ? (this.#audio?.sdp() ?? "") : "";
    const response = { status: 200, reason: "OK", fields: [this.#contact, ALLOW, ...(body ? [SDP] : [])], body };
    if (methodOf(request) === "INVITE") this.#respondFinally(request, from, response);
    else this.#transport.respond(request, from, response);
  }

  /** Sends a final response to an INVITE, repeated until the ACK arrives. */
  #respondFinally(invite: SipText, from: RemoteInfo, response: Response): void {
    const tag = parameter(field(invite, "To"), "tag") ?? response.tag ?? this.#tag;
    this.#stopFunctions.get(tag)?.();
    const stop = this.#retransmissions.repeat(() => this.#transport.respond(invite, from, { ...response, tag }));
    this.#stopFunctions.set(tag, stop);
  }

  #finish(end: "caller hung up" | "callee hung up"): void {
    this.end ??= end;
    this.close();
  }

  get #host(): string {
    const { address, port } = this.#transport;
    return `${address.includes(":") ? `[${address}]` : address}:${port}`;
  }

  get #contact(): Field {
    return ["Contact", this.#script.contact ?? `<sip:${this.user}@${this.#host}>`];
  }
}
