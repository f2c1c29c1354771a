import type { AgentTuning, HttpToolOptions, HttpToolsTuning } from "../../../src/options.ts";
import { DEFAULT_TOKENS, DEFAULT_TURNS } from "../../agent/call-budget.ts";
import { chatClient } from "../../agent/cascade/chat-client.ts";
import { realtimeAgent } from "../../agent/realtime/realtime-agent.ts";
import { httpToolOptions } from "../../defaults/http-tools.ts";
import { HostLookup } from "../../untrusted-hosts/host-lookup.ts";
import { connectOnce, OPERATOR } from "../../untrusted-hosts/public-connection.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const REPLY_TIMEOUT_MS = 20_000;

/** Checks the agent's model, if one is configured: asks for one word, or opens a session without speech. */
export async function findAgent(tuning: AgentTuning | undefined): Promise<Finding[]> {
  if (tuning === undefined || tuning.engine === "scripted") return [];
  const name = `agent ${tuning.engine}`;
  const { maxTurns = DEFAULT_TURNS, maxTokens = DEFAULT_TOKENS } = tuning;
  const limits = `a call has at most ${maxTurns} replies and ${maxTokens} tokens`;
  const startedAt = performance.now();
  const success = (action: string) =>
    works(name, `${action} within ${Math.round(performance.now() - startedAt)} ms; ${limits}`);
  try {
    if (tuning.engine === "realtime") {
      await openSession(tuning);
      return [success("accepted a session")];
    }
    const chat = chatClient(tuning);
    const messages = [{ role: "user", content: "Reply with the word yes." }] as const;
    let reply = "";
    for await (const part of chat({ messages }, AbortSignal.timeout(REPLY_TIMEOUT_MS)))
      if (part.type === "text") reply += part.text;
    if (reply.trim() === "") throw new Error("its reply was empty");
    return [success("replied")];
  } catch (error) {
    const fix = "check RINGPORT_AGENT_URL, _MODEL and _KEY, and the server there";
    // Other call types can be placed without an agent.
    return [{ ...broken(name, `does not reply: ${reasonOf(error)}`, fix), essential: false }];
  }
}

/** Opens a session and closes it again. */
async function openSession(tuning: Extract<AgentTuning, { engine: "realtime" }>): Promise<void> {
  const agent = realtimeAgent(tuning);
  const brief = { callId: "doctor", instructions: ["Say nothing."], language: "en-US", hearsWords: true };
  await agent.open(brief, AbortSignal.timeout(REPLY_TIMEOUT_MS)).finally(() => agent.close());
}

const NAME = "agent tools";
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Checks the servers of the HTTP tools, with one finding each: opens a connection, but sends no request, since a
 * request could have side effects.
 */
export async function findTools(tuning: HttpToolsTuning | undefined): Promise<Finding[]> {
  if (tuning?.tools === undefined) return [];
  let tools: readonly HttpToolOptions[];
  try {
    tools = await httpToolOptions(tuning);
  } catch (error) {
    return [broken(NAME, reasonOf(error), "correct RINGPORT_AGENT_TOOLS")];
  }
  const namesByOrigin = new Map<string, string[]>();
  for (const { url, name } of tools) {
    const { origin } = new URL(url); // placeholders are only in the path and the query
    namesByOrigin.set(origin, [...(namesByOrigin.get(origin) ?? []), name]);
  }
  const hosts = new HostLookup();
  return Promise.all([...namesByOrigin].map(([origin, names]) => findServerOf(names, origin, tuning, hosts)));
}

async function findServerOf(
  tools: readonly string[],
  origin: string,
  { allowPrivate }: HttpToolsTuning,
  hosts: HostLookup,
): Promise<Finding> {
  const startedAt = performance.now();
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)),
    CONNECT_TIMEOUT_MS,
  );
  try {
    await connectOnce(new URL(origin), { allowPrivate, hosts }, { user: OPERATOR, signal: timeout.signal });
    const ms = Math.round(performance.now() - startedAt);
    return works(NAME, `${origin}, of ${tools.join(", ")}: connected within ${ms} ms, and no request was sent`);
  } catch (error) {
    const detail = `${origin}, of ${tools.join(", ")}: no connection: ${reasonOf(error)}`;
    const hint = allowPrivate ? "" : "; RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE=1 allows private addresses";
    const fix = `check the url in RINGPORT_AGENT_TOOLS, and the server there${hint}`;
    // Calls can be placed without them.
    return { ...broken(NAME, detail, fix), essential: false };
  } finally {
    clearTimeout(timer);
  }
}
