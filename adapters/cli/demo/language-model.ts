import { ownMember } from "../../../src/base/own-member.ts";
import { chatClient } from "../../agent/cascade/chat-client.ts";
import { toolSpecs } from "../../agent/cascade/tools.ts";
import { broken, type Finding, reasonOf } from "../doctor/finding.ts";

/** A language model server. */
export interface ModelServer {
  readonly name: string;
  /** Base URL with the version. */
  readonly url: string;
}

/** Language model servers at their usual addresses. */
const USUAL_SERVERS: readonly ModelServer[] = [
  { name: "Ollama", url: "http://127.0.0.1:11434/v1" },
  { name: "llama.cpp", url: "http://127.0.0.1:8080/v1" },
  { name: "vLLM", url: "http://127.0.0.1:8000/v1" },
  { name: "LM Studio", url: "http://127.0.0.1:1234/v1" },
];

/** The operator's choices; undefined ones are detected. */
export interface ModelChoice {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
}

/** A language model that has replied. */
export interface LanguageModel {
  readonly baseUrl: string;
  readonly model: string;
}

/** Options of {@link findLanguageModel}. */
export interface FindOptions {
  /** Addresses to try if the operator has named none. */
  readonly servers?: readonly ModelServer[];
  /** Called before the first request to the model, which loads it. */
  readonly onAsk?: (model: LanguageModel) => void;
}

const RESPONSE_TIMEOUT_MS = 2_000;
/** Time for a model's first reply, ms: a large model has to be read from the disk first. */
const LOAD_TIMEOUT_MS = 180_000;
/** Models that do not converse. */
const NON_CHAT_MODEL = /embed|rerank|whisper|tts|kokoro|piper|parakeet/i;

/**
 * The language model of the operator's choice, or the first one of a server on this machine. Asks the model for a word,
 * so that it is loaded before the call.
 */
export async function findLanguageModel(
  choice: ModelChoice,
  { servers = USUAL_SERVERS, onAsk }: FindOptions = {},
): Promise<LanguageModel | Finding> {
  const model =
    choice.baseUrl === undefined ? await usualServersModel(choice, servers) : await modelAt(choice.baseUrl, choice);
  if ("state" in model) return model;
  onAsk?.(model);
  return (await faultOf(model, choice.apiKey)) ?? model;
}

async function usualServersModel(
  { apiKey, model }: ModelChoice,
  servers: readonly ModelServer[],
): Promise<LanguageModel | Finding> {
  const replies = await Promise.all(
    servers.map(async (server) => ({ ...server, models: (await modelsAt(server.url, apiKey)).models })),
  );
  const runningServers = replies.flatMap(({ models, ...server }) => (models ? [{ ...server, models }] : []));
  for (const { url, models } of runningServers) {
    const modelName =
      model === undefined ? models[0] : models.find((name) => name === model || name === `${model}:latest`);
    if (modelName !== undefined) return { baseUrl: url, model: modelName };
  }
  const pull = `ollama pull ${model ?? "llama3.2"}`;
  const [first] = runningServers;
  if (first === undefined)
    return missingModel(
      `no server responds at ${servers.map(({ name, url }) => `${url} (${name})`).join(", ")}`,
      `ollama serve, then ${pull}; or name another server with RINGPORT_AGENT_URL and RINGPORT_AGENT_MODEL`,
    );
  const { name, url } = first;
  const names = runningServers.flatMap(({ models }) => models);
  return missingModel(
    model === undefined
      ? `${name} at ${url} has no model`
      : `no server has "${model}" (${names.join(", ") || "no model"})`,
    name === "Ollama" ? pull : "load a model there",
  );
}

async function modelAt(baseUrl: string, { apiKey, model }: ModelChoice): Promise<LanguageModel | Finding> {
  // Not every server lists its models.
  if (model !== undefined) return { baseUrl, model };
  const { status, models } = await modelsAt(baseUrl, apiKey);
  const [first] = models ?? [];
  if (first !== undefined) return { baseUrl, model: first };
  return status === undefined
    ? missingModel(`${baseUrl} does not respond`, "start the server there, or correct RINGPORT_AGENT_URL")
    : missingModel(
        `${baseUrl}/models (${status}) lists no model`,
        status === 404 && !/\/v\d[^/]*\/?$/.test(baseUrl)
          ? "add the version to RINGPORT_AGENT_URL, usually /v1"
          : "set RINGPORT_AGENT_MODEL, and _KEY if it needs one",
      );
}

/** Models that a server lists; undefined if it does not serve models. */
async function modelsAt(
  url: string,
  apiKey: string | undefined,
): Promise<{ readonly status?: number; readonly models?: readonly string[] }> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/models`, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const { status } = response;
    const list: unknown = await response.json().catch(() => undefined);
    const data = typeof list === "object" && list !== null ? ownMember(list as { data?: unknown }, "data") : undefined;
    if (!Array.isArray(data)) return { status };
    const names = data.flatMap((entry: { id?: unknown } | null) => (typeof entry?.id === "string" ? [entry.id] : []));
    return { status, models: names.filter((name) => !NON_CHAT_MODEL.test(name)) };
  } catch {
    return {};
  }
}

/** Finding for a model that does not reply; undefined if it does. */
async function faultOf({ baseUrl, model }: LanguageModel, apiKey: string | undefined): Promise<Finding | undefined> {
  const timeout = AbortSignal.timeout(LOAD_TIMEOUT_MS);
  let reason = "its reply was empty";
  try {
    const chat = chatClient({ baseUrl, model, apiKey, timeoutMs: LOAD_TIMEOUT_MS });
    const messages = [{ role: "user", content: "Reply with the word yes." }] as const;
    for await (const _ of chat({ messages, tools: toolSpecs({}) }, timeout)) return undefined;
  } catch (error) {
    reason = timeout.aborted ? `it sent nothing within ${LOAD_TIMEOUT_MS / 1_000} s` : reasonOf(error);
  }
  return missingModel(
    `${model} at ${baseUrl} does not reply: ${reason}`,
    "start the server there, or name a model that can use tools with RINGPORT_AGENT_URL and RINGPORT_AGENT_MODEL",
  );
}

function missingModel(detail: string, fix: string): Finding {
  return broken("language model", detail, fix);
}
