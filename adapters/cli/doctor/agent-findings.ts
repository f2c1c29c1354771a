import type { AgentTuning } from "../../../src/options.ts";
import { chatClient } from "../../agent/cascade/chat-client.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const WITHIN_MS = 20_000;

/** The language model of the agent, if one is configured, tried with one word. */
export async function findAgent(tuning: AgentTuning | undefined): Promise<Finding[]> {
  if (tuning === undefined || tuning.engine === "scripted") return [];
  const name = `agent ${tuning.engine}`;
  const started = performance.now();
  try {
    const chat = chatClient(tuning);
    const messages = [{ role: "user", content: "Reply with the word yes." }] as const;
    let reply = "";
    for await (const part of chat({ messages }, AbortSignal.timeout(WITHIN_MS)))
      if (part.type === "text") reply += part.text;
    if (reply.trim() === "") throw new Error("it replied with nothing");
    return [works(name, `replied within ${Math.round(performance.now() - started)} ms`)];
  } catch (error) {
    const fix = "check RINGPORT_AGENT_URL, _MODEL and _KEY, and the server there";
    // Other calls can be placed without it.
    return [{ ...broken(name, `does not reply: ${reasonOf(error)}`, fix), essential: false }];
  }
}
