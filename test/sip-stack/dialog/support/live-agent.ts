import { DigestClient } from "../../../../adapters/sip-stack/auth/digest.ts";
import type { InviteEnd, InviteUsage } from "../../../../adapters/sip-stack/dialog/invite.ts";
import { createUserAgent } from "../../../../adapters/sip-stack/dialog/user-agent.ts";
import type { UserAgent, UserAgentOptions } from "../../../../adapters/sip-stack/dialog/user-agent-options.ts";
import { createTransactions } from "../../../../adapters/sip-stack/transaction/transaction-layer.ts";
import { createResolve } from "../../../../adapters/sip-stack/transport/resolver.ts";
import { createTransports } from "../../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem } from "../../../../src/ports/system.ts";
import { until } from "../../../support/server-client.ts";

/** A call over real sockets. */
export class LiveCall {
  readonly log: string[] = [];
  readonly usage: InviteUsage;
  end: InviteEnd | undefined;

  constructor(agent: UserAgent, target: string) {
    const log = (line: string): void => void this.log.push(line);
    this.usage = agent.invite({
      target,
      callId: "call",
      negotiator: { offer: () => OFFER, takeAnswer: () => undefined, answerOffer: () => OFFER, confirm() {} },
      listener: {
        placed: () => log("placed"),
        progressed: () => {},
        ringing: () => log("ringing"),
        earlyMedia: () => log("early media"),
        answered: () => log("answered"),
        digit: (digit) => log(`digit ${digit}`),
        holdChanged: (isHeld) => log(isHeld ? "held" : "resumed"),
        ended: (end) => {
          this.end = end;
          log(`ended ${end.type}`);
        },
      },
    });
  }

  /** Waits until the listener has received this event. */
  async until(line: string, withinMs = 5_000): Promise<void> {
    await until(
      () => this.log.includes(line),
      (isLogged) => isLogged,
      withinMs,
      `${line} (so far: ${this.log.join(", ")}; ${this.end && "detail" in this.end ? this.end.detail : ""})`,
    );
  }
}

/** Port 9 has no listener: only the signalling matters here. */
const OFFER =
  "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n";

/** A user agent on real loopback sockets. */
export class LiveAgent {
  readonly agent: UserAgent;
  readonly #close: () => Promise<void>;
  readonly #server: string;

  constructor(server: string, options: Partial<UserAgentOptions> & { readonly password?: string } = {}) {
    this.#server = server;
    const logger = silentLogger;
    const system = options.system ?? realSystem;
    const transports = createTransports({ system, logger, localAddress: "127.0.0.1" });
    const transactions = createTransactions(transports, createResolve({ system }), { system });
    this.agent = createUserAgent({
      transactions,
      identity: {
        from: "<sip:agent@127.0.0.1>",
        contact: (sentBy, { kind }) => `sip:agent@${sentBy};transport=${kind}`,
        headers: [],
        product: "Ringport",
      },
      digest: new DigestClient({ user: "agent", password: options.password ?? "s3cret" }, system),
      trusts: () => true,
      nextHop: () => server,
      system,
      logger,
      ...options,
    });
    this.#close = () => transactions.close();
  }

  /** Calls a user of the server. */
  call(user: string): LiveCall {
    const [scheme = "", rest = ""] = this.#server
      .split(":", 1)
      .concat(this.#server.slice(this.#server.indexOf(":") + 1));
    return new LiveCall(this.agent, `${scheme}:${user}@${rest}`);
  }

  async close(): Promise<void> {
    await this.agent.close();
    await this.#close();
  }
}
