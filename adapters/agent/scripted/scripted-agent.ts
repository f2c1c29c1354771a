import { type Agent, type AgentBrief, AgentUnavailable, type Conversation } from "../../../src/ports/conversation.ts";
import { phrasesIn } from "../agent-phrases.ts";
import { parseScript, questions, ScriptFault, transferNumbers } from "./parse-script.ts";
import { needsWords, type Script } from "./script.ts";
import { ScriptedConversation } from "./scripted-conversation.ts";

/**
 * An agent without a language model: it conducts calls whose instructions are a script (docs/agents.md). The agent
 * introduces itself as an automated call, and understands only keys and the words in its script.
 */
export function scriptedAgent(): Agent {
  return {
    name: "scripted",
    check: (brief) => void scriptOf(brief),
    begin: (brief): Conversation => new ScriptedConversation(scriptOf(brief), brief, phrasesIn(brief.language)),
    async close() {},
  };
}

function scriptOf({ instructions, hearsWords, canTransfer, transferTo }: AgentBrief): Script {
  try {
    const script = parseScript(instructions);
    if (!hearsWords) assertKeysSuffice(script);
    for (const to of transferNumbers(script.steps)) assertTransferable(to, canTransfer, transferTo);
    return script;
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    throw new AgentUnavailable(`no AI agent is configured on this server, and ${error.message}`, { cause: error });
  }
}

/** Refuses a script with a question that needs words: without transcription, only keys are received. */
function assertKeysSuffice({ steps }: Script): void {
  for (const question of questions(steps))
    if (needsWords(question))
      throw new ScriptFault(
        `the question "${question.text}" can only be answered in words, which needs a transcription engine: add keys, such as "If 1 or yes:"`,
      );
}

function assertTransferable(to: string, canTransfer = false, transferTo: readonly string[] = [to]): void {
  if (!canTransfer)
    throw new ScriptFault(`the script transfers the call to ${to}, which the network of this instance cannot do`);
  if (!transferTo.includes(to))
    throw new ScriptFault(`the script transfers the call to ${to}, which is missing from transferTo`);
}
