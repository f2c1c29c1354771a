import type {
  AgentReply,
  AgentRequest,
  UserAgent,
} from "../../../../../adapters/sip-stack/dialog/user-agent-options.ts";
import { SipHeaders } from "../../../../../adapters/sip-stack/message/headers.ts";
import { sipRequest } from "../../../../../adapters/sip-stack/message/sip-message.ts";
import type { Flow } from "../../../../../adapters/sip-stack/transport/transport.ts";

/** A scripted response. */
export interface ScriptedReply {
  readonly status: number;
  readonly reason?: string;
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** The response to a request; `silence` means none. */
export type Script = (request: AgentRequest, count: number) => ScriptedReply | "silence" | Error;

/** A user agent that sends nothing; a script provides the responses. */
export class ScriptedAgent implements UserAgent {
  readonly requests: AgentRequest[] = [];
  readonly calls = 0;
  script: Script;
  isAlive = true;
  /** Number of unreleased holds on the flow. */
  holds = 0;

  constructor(script: Script) {
    this.script = script;
  }

  readonly flow: Flow = ((agent: ScriptedAgent): Flow => ({
    kind: "tcp",
    local: { address: "192.0.2.1", port: 5060 },
    remote: { address: "192.0.2.9", port: 5060 },
    get isAlive() {
      return agent.isAlive;
    },
    reliable: true,
    send: () => true,
    hold() {
      agent.holds++;
      return () => void agent.holds--;
    },
  }))(this);

  async request(request: AgentRequest, signal?: AbortSignal): Promise<AgentReply> {
    signal?.throwIfAborted();
    const reply = this.script(request, this.requests.push(request));
    if (reply instanceof Error) throw reply;
    if (reply === "silence")
      return await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    const headers = new SipHeaders().add("Contact", "<sip:100@192.0.2.1:5060;transport=tcp>");
    const fields = new SipHeaders();
    for (const [name, value] of reply.fields ?? []) fields.add(name, value);
    return {
      request: sipRequest(request.method, request.uri, headers),
      response: {
        kind: "response",
        status: reply.status,
        reason: reply.reason ?? "",
        headers: fields,
        body: new Uint8Array(0),
      },
      flow: this.flow,
      refusal: undefined,
    };
  }

  series() {
    return { callId: "c", fromTag: "t", cseq: 0 };
  }

  invite(): never {
    throw new Error("this agent places no calls");
  }

  async close(): Promise<void> {}

  /** Expires values of all REGISTERs so far. */
  get expiries(): (string | undefined)[] {
    return this.requests.map(({ headers = [] }) => headers.find(([name]) => name === "Expires")?.[1]);
  }
}
