import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { resultIn, resultPrompt, resultSchemaOf } from "../prompts.ts";
import { type Chat, ChatFault } from "./chat-client.ts";
import type { ChatMessage, ChatRequest } from "./chat-messages.ts";

/** Statuses of servers that do not support `response_format`, or this schema. */
const UNSUPPORTED_STATUSES: readonly (number | undefined)[] = [400, 404, 415, 422, 501];

/**
 * Result that a model reports for a call: a JSON value if it wrote one, otherwise its text. The transcript is data in a
 * separate request, so that the model cannot mistake the callee's words for instructions.
 * @param fault fault of the previous value
 * @param onUsage receives the tokens of each request
 * @throws {ChatFault} or the signal's reason
 */
export async function reportOf(
  chat: Chat,
  brief: AgentBrief,
  history: readonly ChatMessage[],
  fault: string | undefined,
  onUsage: (tokens: number) => void,
  signal: AbortSignal,
): Promise<unknown> {
  const schema = resultSchemaOf(brief);
  const messages: ChatMessage[] = [
    { role: "system", content: resultPrompt(brief, "transcript", fault) },
    { role: "user", content: JSON.stringify(history.flatMap(linesOf)) },
  ];
  const text = async (request: ChatRequest): Promise<string> => {
    let content = "";
    for await (const part of chat(request, signal))
      if (part.type === "text") content += part.text;
      else if (part.type === "usage") onUsage(part.tokens);
    return content;
  };
  try {
    return resultIn(await text({ messages, format: schema }));
  } catch (error) {
    if (!(error instanceof ChatFault) || !UNSUPPORTED_STATUSES.includes(error.status)) throw error;
    return resultIn(await text({ messages }));
  }
}

/** A message as transcript lines. */
function linesOf(message: ChatMessage): object[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ speaker: "callee", text: message.content }];
    case "tool":
      return [{ tool_result: message.content }];
    case "assistant": {
      const toolCalls = (message.tool_calls ?? []).map(({ function: { name, arguments: input } }) => ({
        tool: name,
        input,
      }));
      return [...(message.content ? [{ speaker: "agent", text: message.content }] : []), ...toolCalls];
    }
  }
}
