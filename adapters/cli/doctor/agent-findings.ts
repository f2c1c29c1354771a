import type { AgentTuning } from "../../../src/options.ts";
import { DEFAULT_TOKENS, DEFAULT_TURNS } from "../../agent/call-budget.ts";
import { chatClient } from "../../agent/cascade/chat-client.ts";
import { realtimeAgent } from "../../agent/realtime/realtime-agent.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const WITHIN_MS = 20_000;

/** The model of the agent, if one is configured, tried with one word, or with a session that nobody speaks in. */
export async function findAgent(tuning: AgentTuning | undefined): Promise<Finding[]> {
  if (tuning === undefined || tuning.engine === "scripted") return [];
  const name = `agent ${tuning.engine}`;
  const { maxTurns = DEFAULT_TURNS, maxTokens = DEFAULT_TOKENS } = tuning;
  const limits = `a call has at most ${maxTurns} replies and ${maxTokens} tokens`;
  const started = performance.now();
  const found = (what: string) =>
    works(name, `${what} within ${Math.round(performance.now() - started)} ms; ${limits}`);
  try {
    if (tuning.engine === "realtime") {
      await openOnce(tuning);
      return [found("accepted a session")];
    }
    const chat = chatClient(tuning);
    const messages = [{ role: "user", content: "Reply with the word yes." }] as const;
    let reply = "";
    for await (const part of chat({ messages }, AbortSignal.timeout(WITHIN_MS)))
      if (part.type === "text") reply += part.text;
    if (reply.trim() === "") throw new Error("it replied with nothing");
    return [found("replied")];
  } catch (error) {
    const fix = "check RINGPORT_AGENT_URL, _MODEL and _KEY, and the server there";
    // Other calls can be placed without it.
    return [{ ...broken(name, `does not reply: ${reasonOf(error)}`, fix), essential: false }];
  }
}

/** Opens a session and closes it again. */
async function openOnce(tuning: Extract<AgentTuning, { engine: "realtime" }>): Promise<void> {
  const agent = realtimeAgent(tuning);
  const brief = { callId: "doctor", instructions: ["Say nothing."], language: "en-US", hearsWords: true };
  await agent.open(brief, AbortSignal.timeout(WITHIN_MS)).finally(() => agent.close());
}
