import { DigestClient } from "../../../../adapters/sip-stack/auth/digest.ts";
import type { InviteEnd, InviteUsage, Negotiator } from "../../../../adapters/sip-stack/dialog/invite.ts";
import { createUserAgent } from "../../../../adapters/sip-stack/dialog/user-agent.ts";
import type { UserAgent, UserAgentOptions } from "../../../../adapters/sip-stack/dialog/user-agent-options.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import {
  type ScriptedFlow,
  type ScriptedRequest,
  type ScriptedResponse,
  ScriptedTransactions,
  type SentRequest,
} from "./scripted-transactions.ts";

/** SDP of a peer with this direction. */
export function sdp(direction = "sendrecv", port = 4000): string {
  return `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\na=${direction}\r\n`;
}

/** An offerer that records its calls. */
export class RecordingNegotiator implements Negotiator {
  readonly log: string[] = [];
  /** Fault that it reports for the next answers. */
  fault: string | undefined;
  /** Answer to a new offer. */
  answer: string | undefined = "v=0 our answer";

  offer(): string {
    this.log.push("offer");
    return "v=0 our offer";
  }

  takeAnswer(_sdp: string, isEarly: boolean): string | undefined {
    this.log.push(isEarly ? "early" : "answered");
    return this.fault;
  }

  answerOffer(_sdp: string, isEarly: boolean): string | undefined {
    this.log.push(isEarly ? "reoffered early" : "reoffered");
    return this.answer;
  }

  confirm(): void {
    this.log.push("confirmed");
  }
}

/** One call of a user agent over scripted transactions. */
export class ScriptedCall {
  readonly system = new ManualSystem();
  readonly tx: ScriptedTransactions;
  readonly agent: UserAgent;
  readonly negotiator = new RecordingNegotiator();
  readonly usage: InviteUsage;
  /** Events of the listener. */
  readonly log: string[] = [];
  readonly trace: string[] = [];
  end: InviteEnd | undefined;
  /** True if the INVITE and its session refreshes may be sent. */
  maySend = true;

  constructor(options: Partial<UserAgentOptions> & { readonly flow?: ScriptedFlow } = {}) {
    this.tx = new ScriptedTransactions(options.flow);
    this.agent = createUserAgent({
      transactions: this.tx,
      identity: {
        from: '"Us" <sip:100@example.com>',
        contact: (sentBy) => `sip:100@${sentBy}`,
        headers: [["X-Trunk", "one"]],
        product: "Ringport",
      },
      digest: new DigestClient({ user: "agent", password: "s3cret" }, this.system),
      trusts: () => true,
      nextHop: () => "sip:192.0.2.1",
      system: this.system,
      logger: silentLogger,
      trace: (_callId, direction, message) =>
        this.trace.push(`${direction} ${message.kind === "request" ? message.method : message.status}`),
      ...options,
    });
    this.usage = this.agent.invite({
      target: "sip:+12025550100@example.com",
      callId: "call-1",
      negotiator: this.negotiator,
      maySend: () => this.maySend,
      listener: {
        placed: () => this.log.push("placed"),
        progressed: () => {},
        ringing: () => this.log.push("ringing"),
        earlyMedia: () => this.log.push("early media"),
        answered: () => this.log.push("answered"),
        digit: (digit) => this.log.push(`digit ${digit}`),
        holdChanged: (isHeld) => this.log.push(isHeld ? "held" : "resumed"),
        ended: (end) => {
          this.end = end;
          this.log.push(`ended ${end.type}`);
        },
      },
    });
  }

  /** A call whose INVITE has been sent. */
  static async placed(options?: ConstructorParameters<typeof ScriptedCall>[0]): Promise<ScriptedCall> {
    const call = new ScriptedCall(options);
    await call.system.settle();
    return call;
  }

  /** A call answered by the peer with tag `a`. */
  static async answered(
    options?: ConstructorParameters<typeof ScriptedCall>[0],
    fields: ScriptedResponse["fields"] = [],
  ): Promise<ScriptedCall> {
    const call = await ScriptedCall.placed(options);
    call.accept({ fields: [["Contact", "<sip:callee@192.0.2.9:5070>"], ...fields] });
    await call.system.settle();
    return call;
  }

  get invite(): SentRequest {
    return this.tx.last("INVITE");
  }

  /** Sends a 200 with SDP. */
  accept(answer: ScriptedResponse = {}): void {
    this.invite.respond(200, { reason: "OK", tag: "a", sdp: sdp(), ...answer });
  }

  /** A request from the peer in the dialog with tag `a`. */
  async receive(
    method: string,
    {
      cseq = 1,
      body = "",
      type = "application/sdp",
      tag = "a",
      fields = [] as readonly (readonly [string, string])[],
      flow = this.tx.flow,
    } = {},
  ): Promise<ScriptedRequest> {
    const { headers } = this.tx.sent.find((sent) => sent.method === "INVITE")!.request;
    const incoming = this.tx.receive(
      method,
      [
        ["From", `<sip:+12025550100@example.com>;tag=${tag}`],
        ["To", headers.get("From")!],
        ["Call-ID", headers.get("Call-ID")!],
        ["CSeq", `${cseq} ${method}`],
        ...(body === "" ? [] : [["Content-Type", type] as const]),
        ...fields,
      ],
      body,
      flow,
    );
    await this.system.settle();
    return incoming;
  }

  /** Leftovers: calls of the agent, timers, open connections. */
  get leftovers(): number {
    return this.agent.calls + this.system.waiting + this.tx.flow.holds;
  }
}
