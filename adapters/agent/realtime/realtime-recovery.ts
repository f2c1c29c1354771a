import type { AudioAgentEvent } from "../../../src/ports/audio-conversation.ts";
import { phrasesIn } from "../agent-phrases.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { isPermanentCode, type RealtimeFault } from "./realtime-link.ts";
import { itemCreate, NO_MORE_TURNS } from "./realtime-session.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";
import type { RealtimeReplies, ReplyRequest } from "./replies.ts";
import type { SpokenHistory } from "./spoken-history.ts";

/** Progress of a conversation. */
interface Progress {
  /** True once the last reply has begun. */
  readonly isClosing: boolean;
  /** True if the agent has finished speaking. */
  readonly hasEnded: boolean;
}

/** Callbacks for the effects of faults. */
export interface RecoveryReports {
  emit(event: AudioAgentEvent): void;
  /** Called when the conversation continues over another connection. @param dueReply the reply that is due */
  onResumed(dueReply: ReplyRequest | undefined): void;
  /** Called when the conversation cannot continue. */
  onFailed(): void;
}

/**
 * Recovers from one server fault: requests the reply once more, or continues over another connection. Gives up at the
 * next fault.
 */
export class Recovery {
  readonly #link: ReconnectingLink;
  readonly #replies: RealtimeReplies;
  readonly #history: SpokenHistory;
  readonly #progress: Progress;
  readonly #reports: RecoveryReports;
  readonly #language: string;
  /** The reply to request over the next connection. */
  #dueReply: ReplyRequest | undefined;

  constructor(
    { link, replies, history }: { link: ReconnectingLink; replies: RealtimeReplies; history: SpokenHistory },
    language: string,
    progress: Progress,
    reports: RecoveryReports,
  ) {
    this.#link = link;
    this.#replies = replies;
    this.#history = history;
    this.#language = language;
    this.#progress = progress;
    this.#reports = reports;
  }

  /** Handles an error that the server reports. */
  error({ code, request, fault }: Extract<RealtimeEvent, { type: "error" }>): void {
    const problem = `reports: ${fault}`;
    if (code === "conversation_already_has_active_response") this.#replies.postpone();
    else if (code === "response_cancel_not_active") this.#replies.notCancelled();
    else if (isPermanentCode(code)) this.#fail(this.#link.faultText(problem));
    else {
      const failedReply = this.#replies.takeRefused(request);
      if (failedReply !== undefined) this.failed(failedReply, problem);
      else this.#reports.emit({ type: "fault", detail: this.#link.faultText(problem) });
    }
  }

  /** Handles a failed reply: requests it once more, or gives up. */
  failed(reply: ReplyRequest, problem: string): void {
    const detail = this.#link.faultText(problem);
    if (!reply.fillsTime && this.#link.recordFailure()) {
      this.#fail(detail);
      return;
    }
    this.#reports.emit({ type: "fault", detail });
    if (reply.fillsTime) this.#replies.next();
    else this.#replies.request(reply);
  }

  /** Called when the connection is lost. @param isLast true if it is not replaced automatically */
  lost(fault: RealtimeFault, isLast: boolean): void {
    const { dueReply, items } = this.#replies.lost();
    for (const item of items) this.#reports.emit({ type: "item_end", item });
    this.#dueReply = dueReply?.fillsTime ? undefined : dueReply;
    if (isLast) this.#fail(fault.message);
    else this.#reports.emit({ type: "fault", detail: fault.message });
  }

  /** Handles a connection that has replaced the lost one. */
  replaced(): void {
    this.replayHistory();
    const dueReply = this.#replies.takePending() ?? this.#dueReply;
    this.#dueReply = undefined;
    if (!this.#progress.hasEnded) this.#reports.onResumed(dueReply);
  }

  /** Handles a connection that could not be replaced. */
  notReplaced(error: Error): void {
    this.#fail(error.message);
  }

  /** Connects again before the agent speaks, if the connection was lost while no reply was due. Never rejects. */
  async reconnect(): Promise<void> {
    try {
      if (await this.#link.reopen()) this.replaced();
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  /** Sends the conversation so far over a new connection. */
  replayHistory(): void {
    if (this.#progress.isClosing || this.#progress.hasEnded) this.#link.send(NO_MORE_TURNS);
    for (const message of this.#history.messages) this.#link.send(itemCreate(message));
  }

  #fail(detail: string): void {
    if (this.#progress.hasEnded) return;
    this.#reports.emit({ type: "say", text: phrasesIn(this.#language).apology });
    this.#reports.emit({ type: "fail", detail });
    this.#link.disconnect();
    this.#reports.onFailed();
  }
}
