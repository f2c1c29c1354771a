import { parseCSeq } from "../message/header-values.ts";
import { tagOf } from "../message/name-addr.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { Flow } from "../transport/transport.ts";
import { nextHop, SipDialog } from "./dialog.ts";
import { DialogTermination } from "./dialog-termination.ts";
import type { DialogUsage } from "./dialog-usage.ts";
import type { AgentContext } from "./user-agent-context.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** Maximum number of early dialogs per INVITE; a 2xx may create one more. */
const MAX_FORKS = 16;

/**
 * The dialogs of one INVITE, by remote tag: several while it rings, one once it is answered (RFC 3261 section 12.1).
 */
export class Forks {
  readonly #dialogs = new Map<string, DialogUsage>();

  get size(): number {
    return this.#dialogs.size;
  }

  get(tag: string | undefined): DialogUsage | undefined {
    return this.#dialogs.get(tag ?? "");
  }

  /**
   * The dialog that this response belongs to, created for the first response with its tag; undefined if the response
   * creates none.
   */
  findOrCreate(response: SipResponse, create: () => DialogUsage): DialogUsage | undefined {
    const tag = tagOf(response.headers.get("To")) ?? "";
    const existing = this.#dialogs.get(tag);
    if (existing !== undefined) return existing;
    const isEarly = response.status < 200;
    if (isEarly && (tag === "" || this.#dialogs.size >= MAX_FORKS)) return undefined;
    const usage = create();
    this.#dialogs.set(tag, usage);
    return usage;
  }

  /** Drops one dialog; no message is sent. */
  drop(usage: DialogUsage | undefined): void {
    if (usage === undefined) return;
    usage.close();
    this.#dialogs.delete(usage.dialog.remoteTag);
  }

  /** Drops all but one; no message is sent. */
  keepOnly(remaining: DialogUsage | undefined): void {
    for (const usage of this.#dialogs.values()) if (usage !== remaining) this.drop(usage);
  }
}

/** The INVITE that a stray 2xx belongs to, as far as is known. */
interface StrayInvite {
  /** Request-URI of the INVITE. */
  readonly uri: string;
  readonly authorization: readonly HeaderField[];
  /** The core's call id, for the trace. */
  readonly callId: string | undefined;
}

/** Declines a 2xx from another fork, or a late one: sends ACK and BYE (RFC 3261 section 13.2.2.4). */
export function declineAnswer(context: AgentContext, response: SipResponse, flow: Flow, invite: StrayInvite): void {
  const cseq = parseCSeq(response.headers.get("CSeq"));
  if (cseq === undefined || cseq.method !== "INVITE") return;
  const { authorization, callId } = invite;
  context.options.logger.info({ callId, sipCallId: response.headers.get("Call-ID") }, "sip: hanging up a stray answer");
  const dialog = new SipDialog(invite.uri, response);
  const inviteHop = context.options.nextHop(invite.uri);
  const ack = dialog.ack(cseq.number, [...authorization, context.userAgent]);
  const { to } = nextHop(ack.next, flow, inviteHop);
  context.withholdCredentials(ack.request, to);
  context.transactions.ack(ack.request, to);
  context.trace(callId, "sent", ack.request);
  new DialogTermination(context, {
    flow,
    callId,
    compose: (useInviteHop) => {
      const { request, next } = dialog.request("BYE", { headers: [context.userAgent] });
      return { request, ...(useInviteHop ? { to: inviteHop, fallback: inviteHop } : nextHop(next, flow, inviteHop)) };
    },
    onResponse() {},
  });
}
