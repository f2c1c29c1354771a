import { bodyPart, reportedStatus } from "../message/body-part.ts";
import { parseParameterized } from "../message/grammar.ts";
import { parseCSeq } from "../message/header-values.ts";
import { oneLine, type SipRequest, type SipResponse, statusText } from "../message/sip-message.ts";
import { CodedError, type TransferOutcome } from "../ports.ts";
import type { DialogRequests } from "./dialog-requests.ts";
import type { InviteRefusal } from "./refusals.ts";
import type { UacRequest, UacRequestListener } from "./uac-request.ts";
import type { AgentContext } from "./user-agent-context.ts";

/** Time limit for the peer to report an outcome, ms. */
const OUTCOME_TIMEOUT_MS = 60_000;
/** Time to wait for the BYE of a peer that stops reporting without an outcome, ms. */
const BYE_WAIT_MS = 2_000;

const OK: Pick<InviteRefusal, "headers"> & { readonly status: 200 } = { status: 200 };
const BAD_EVENT: InviteRefusal = { status: 489, headers: [["Allow-Events", "refer"]] };
const NO_SUBSCRIPTION: InviteRefusal = { status: 481 };
const SIPFRAG_ONLY: InviteRefusal = { status: 415, headers: [["Accept", "message/sipfrag"]] };

/** The URIs in a REFER. */
export interface ReferralTarget {
  /** The URI of Refer-To. */
  readonly to: string;
  /** The URI of Referred-By (RFC 3892): our own in this dialog. */
  readonly referredBy: string | undefined;
}

/** Rejects the outcome: the call has ended without a transfer. */
export class CallEnded extends CodedError {
  override readonly name = "CallEnded";
  readonly code = "call_ended";
}

/**
 * One blind transfer (RFC 3515, RFC 5589 section 6): our REFER within the call's dialog, and the subscription to its
 * outcome that the REFER implies.
 */
export class Referral {
  readonly outcome: Promise<TransferOutcome>;
  readonly #context: AgentContext;
  /**
   * CSeq numbers of the REFER and its repetition with credentials: a NOTIFY names one as the `id` in its Event field.
   */
  readonly #ids = new Set<string>();
  /** True if the peer acts on the REFER. */
  #isAccepted = false;
  #hasEnded = false;
  #stopTimer: () => void;
  #resolve: (outcome: TransferOutcome) => void = () => {};
  #reject: (fault: Error) => void = () => {};

  constructor(
    context: AgentContext,
    requests: DialogRequests,
    { to, referredBy }: ReferralTarget,
    maySend: UacRequestListener["maySend"],
  ) {
    this.#context = context;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stopTimer = context.options.system.after(OUTCOME_TIMEOUT_MS, () =>
      this.#end({ type: "failed", detail: `the peer reported no outcome within ${OUTCOME_TIMEOUT_MS / 1_000} s` }),
    );
    const referredByFields = referredBy === undefined ? [] : [["Referred-By", `<${referredBy}>`] as const];
    const request: UacRequest = requests.send(
      "REFER",
      { headers: [["Refer-To", `<${to}>`], ...referredByFields], contact: true },
      {
        maySend,
        sent: ({ headers }) => this.#ids.add(String(parseCSeq(headers.get("CSeq"))?.number)),
        final: (response) => this.#onResponse(response, request.refusal?.detail),
        failed: ({ message }) => this.#end({ type: "failed", detail: oneLine(message) }),
      },
    );
  }

  /** True if it has no outcome yet. */
  get isPending(): boolean {
    return !this.#hasEnded;
  }

  /** True if a NOTIFY with this `id`, or without one, may belong to its subscription. */
  owns(id: string | undefined): boolean {
    return id === undefined || this.#ids.has(id);
  }

  /** Handles a NOTIFY, even a late or repeated one; returns the response. */
  receiveNotify(request: SipRequest): InviteRefusal | typeof OK {
    const body = bodyPart(request, "message/sipfrag");
    if (body === undefined && request.body.length > 0) return SIPFRAG_ONLY;
    const report = body === undefined ? undefined : reportedStatus(body);
    if (body !== undefined && report === undefined) return { status: 400 };
    if (this.#hasEnded) return OK;
    if (report !== undefined && report.status >= 200) {
      const detail = oneLine(`SIP ${report.status} ${report.reason}`.trim());
      this.#end({ type: report.status < 300 ? "accepted" : "failed", detail });
      return OK;
    }
    this.#isAccepted = true;
    const state = parseParameterized(request.headers.get("Subscription-State") ?? "");
    if (state?.value.toLowerCase() === "terminated") this.#awaitBye(state.params.get("reason"));
    return OK;
  }

  /** Handles the peer's BYE. */
  peerLeft(): void {
    if (this.#isAccepted) this.#end({ type: "accepted", detail: "the peer left the call without a report" });
    else this.stop();
  }

  /** Rejects the outcome: the call has ended before the peer agreed. */
  stop(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopTimer();
    this.#reject(new CallEnded("the call ended before the peer agreed to the transfer"));
  }

  #onResponse(response: SipResponse, refusal: string | undefined): void {
    if (response.status >= 300) {
      const reasonText = refusal === undefined ? "" : `: ${oneLine(refusal)}`;
      this.#end({ type: "failed", detail: `${statusText(response)}${reasonText}` });
      return;
    }
    this.#isAccepted = true;
    // No report will arrive (RFC 4488).
    if (response.headers.get("Refer-Sub")?.trim().toLowerCase() === "false")
      this.#end({ type: "accepted", detail: statusText(response) });
  }

  /**
   * Waits for the BYE after a subscription that ended without an outcome: the peer has failed, or is about to leave.
   */
  #awaitBye(reason: string | undefined): void {
    const reasonText = reason ? ` (${oneLine(reason)})` : "";
    this.#stopTimer();
    this.#stopTimer = this.#context.options.system.after(BYE_WAIT_MS, () =>
      this.#end({ type: "failed", detail: `the peer reports no outcome${reasonText}` }),
    );
  }

  #end(outcome: TransferOutcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopTimer();
    this.#resolve(outcome);
  }
}

/** The referrals of one dialog, and the responses to the NOTIFYs of its peer. */
export class Referrals {
  readonly #referrals: Referral[] = [];

  /** True if a transfer is in progress. */
  get isPending(): boolean {
    return this.#referrals.at(-1)?.isPending === true;
  }

  add(referral: Referral): void {
    this.#referrals.push(referral);
  }

  /** Handles a NOTIFY; returns the response (RFC 6665 section 4.1.3). */
  receiveNotify(request: SipRequest): InviteRefusal | typeof OK {
    const event = parseParameterized(request.headers.get("Event") ?? request.headers.get("o") ?? "");
    if (event?.value.toLowerCase() !== "refer") return BAD_EVENT;
    const id = event.params.get("id");
    // A NOTIFY without an id belongs to the latest REFER, despite RFC 3515: most peers never send an id.
    return this.#referrals.findLast((referral) => referral.owns(id))?.receiveNotify(request) ?? NO_SUBSCRIPTION;
  }

  /** Handles the peer's BYE. */
  peerLeft(): void {
    for (const referral of this.#referrals) referral.peerLeft();
  }

  stop(): void {
    for (const referral of this.#referrals) referral.stop();
  }
}
