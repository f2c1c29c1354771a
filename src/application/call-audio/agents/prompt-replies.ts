import { CodedError } from "../../../base/error.ts";
import type { Timers } from "../../../base/timers.ts";
import { within } from "../../../base/timers.ts";
import type {
  Agent,
  AgentBrief,
  Conversation,
  ConversationAction,
  ConversationInput,
} from "../../../ports/conversation.ts";

/** Maximum time without output from a reply, ms, unless the conversation sets another. */
const SILENCE_MS = 10_000;
/** Number of consecutive silences after which the agent has failed. */
const MAX_SILENCES = 2;

/** Thrown when an agent does not reply in time; the message is for an operator. */
export class AgentSilent extends CodedError {
  override readonly name = "AgentSilent";
  readonly code = "agent_silent";
}

/** The replies of an agent on one call, with a time limit: a reply without timely output is requested once more. */
export class PromptReplies {
  readonly conversation: Conversation;
  readonly #system: Timers;
  readonly #agent: Agent;
  #runningToolCount = 0;
  /** True once the reply has yielded something, or used a tool: it is not requested again. */
  #hasActed = false;
  /** Number of silences since the agent's latest output, or its latest complete reply. */
  #silenceCount = 0;

  /** Starts the conversation. */
  constructor(system: Timers, agent: Agent, brief: AgentBrief) {
    this.#system = system;
    this.#agent = agent;
    const tools = brief.tools?.map((tool) => ({ ...tool, run: (input: string) => this.#use(tool.run(input)) }));
    this.conversation = agent.begin({ ...brief, tools });
  }

  /**
   * The actions of the reply to an input.
   * @param signal ends everything, with its reason
   * @param interruption aborted when the callee interrupts: the rest of the reply is not needed
   * @throws {AgentSilent} or what the agent throws
   */
  async *reply(
    input: ConversationInput,
    signal: AbortSignal,
    interruption: AbortSignal,
  ): AsyncGenerator<ConversationAction, void> {
    for (;;) {
      const attempt = new AbortController();
      const stopSignal = AbortSignal.any([signal, interruption, attempt.signal]);
      const actions = iteratorOf(this.conversation.reply(input, stopSignal));
      this.#hasActed = false;
      try {
        for (
          let next = await this.#nextAction(actions, signal);
          !next.done;
          next = await this.#nextAction(actions, signal)
        ) {
          this.#silenceCount = 0;
          this.#hasActed = true;
          yield next.value;
        }
        this.#silenceCount = 0;
        return;
      } catch (error) {
        if (!(error instanceof AgentSilent)) throw error;
        attempt.abort(error);
        if (++this.#silenceCount >= MAX_SILENCES || (this.#hasActed && !interruption.aborted)) throw error;
        if (interruption.aborted) return;
      } finally {
        void end(actions);
      }
    }
  }

  /** The next action. The time that tools take is not limited here. */
  async #nextAction(actions: Actions, signal: AbortSignal): Promise<IteratorResult<ConversationAction, unknown>> {
    const ms = this.conversation.replyTimeoutMs ?? SILENCE_MS;
    const timeoutError = (): Error => new AgentSilent(`the agent ${this.#agent.name} sent nothing for ${ms} ms`);
    const next = (async () => actions.next())();
    for (;;)
      try {
        return await within(next, { system: this.#system, ms, timeoutError, signal });
      } catch (error) {
        if (!(error instanceof AgentSilent) || this.#runningToolCount === 0) throw error;
      }
  }

  #use(work: Promise<string>): Promise<string> {
    this.#hasActed = true;
    this.#runningToolCount++;
    return work.finally(() => {
      this.#runningToolCount--;
    });
  }
}

type Actions = AsyncIterator<ConversationAction, unknown> | Iterator<ConversationAction, unknown>;

function iteratorOf(reply: ReturnType<Conversation["reply"]>): Actions {
  return Symbol.asyncIterator in reply ? reply[Symbol.asyncIterator]() : reply[Symbol.iterator]();
}

/** Lets the agent clean up. Never rejects. */
async function end(actions: Actions): Promise<void> {
  try {
    await actions.return?.();
  } catch {
    // The reply is no longer read, so its errors do not matter.
  }
}
