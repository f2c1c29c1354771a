import { afterEach, describe, expect, test } from "vitest";
import { findLanguageModel, type ModelServer } from "../../../adapters/cli/demo/language-model.ts";
import { freePort } from "../../support/free-port.ts";
import { type OpenaiServer, type OpenaiServerOptions, openaiServer } from "../../support/openai-server.ts";

const openServers: OpenaiServer[] = [];
afterEach(async () => {
  await Promise.all(openServers.splice(0).map((server) => server.close()));
});

/** A server with these models. */
async function startModelServer(name: string, models: readonly string[], options: Partial<OpenaiServerOptions> = {}) {
  const server = await openaiServer({ understand: () => "", models, ...options });
  openServers.push(server);
  return { name, url: server.baseUrl, server };
}

/** An address without a server. */
async function unusedAddress(name: string): Promise<ModelServer> {
  return { name, url: `http://127.0.0.1:${await freePort()}/v1` };
}

describe("this machine's language model", () => {
  test("is the first one that replies in a conversation", async () => {
    const embeddings = await startModelServer("one", ["nomic-embed-text:latest"]);
    const chat = await startModelServer("two", ["text-embedding-nomic", "some-model", "other-model"]);
    const servers = [await unusedAddress("none"), embeddings, chat];
    const requests: string[] = [];
    const model = await findLanguageModel({}, { servers, onAsk: ({ model }) => requests.push(model) });
    expect(model).toEqual({ baseUrl: chat.url, model: "some-model" });
    expect(requests).toEqual(["some-model"]);
    expect(chat.server.chats).toMatchObject([
      { model: "some-model", tools: ["hang_up", "leave_voicemail", "send_dtmf"] },
    ]);
    expect(embeddings.server.chats).toEqual([]);
  });

  test("has the configured name, with or without Ollama's tag", async () => {
    const servers = [await startModelServer("one", ["first"]), await startModelServer("two", ["second:latest"])];
    const model = await findLanguageModel({ model: "second" }, { servers });
    expect(model).toEqual({ baseUrl: servers[1]!.url, model: "second:latest" });
    expect(await findLanguageModel({ model: "third" }, { servers })).toMatchObject({
      detail: 'no server has "third" (first, second:latest)',
      fix: "load a model there",
    });
  });

  test("is reported missing, with addresses and commands to start one", async () => {
    const server = await unusedAddress("Ollama");
    expect(await findLanguageModel({}, { servers: [server] })).toMatchObject({
      state: "broken",
      detail: `no server responds at ${server.url} (Ollama)`,
      fix: expect.stringContaining("ollama serve, then ollama pull"),
    });
    const emptyServer = await startModelServer("Ollama", []);
    expect(await findLanguageModel({}, { servers: [emptyServer] })).toMatchObject({
      detail: `Ollama at ${emptyServer.url} has no model`,
      fix: expect.stringContaining("ollama pull"),
    });
  });

  test("is queried only at the configured address, with its key", async () => {
    const otherServer = await startModelServer("other", ["other-model"]);
    const { url, server } = await startModelServer("mine", ["mine"], { apiKey: "sk-mine" });
    const servers = [otherServer];
    expect(await findLanguageModel({ baseUrl: url, apiKey: "sk-mine" }, { servers })).toEqual({
      baseUrl: url,
      model: "mine",
    });
    expect(server.chats).toHaveLength(1);
    expect(await findLanguageModel({ baseUrl: url }, { servers })).toMatchObject({
      detail: `${url}/models (401) lists no model`,
      fix: expect.stringContaining("RINGPORT_AGENT_MODEL"),
    });
    const unversionedUrl = otherServer.url.replace(/\/v1$/, "");
    expect(await findLanguageModel({ baseUrl: unversionedUrl }, { servers })).toMatchObject({
      detail: `${unversionedUrl}/models (404) lists no model`,
      fix: "add the version to RINGPORT_AGENT_URL, usually /v1",
    });
    const { url: unusedUrl } = await unusedAddress("nowhere");
    expect(await findLanguageModel({ baseUrl: unusedUrl }, { servers })).toMatchObject({
      detail: `${unusedUrl} does not respond`,
      fix: "start the server there, or correct RINGPORT_AGENT_URL",
    });
  });

  test("is reported with the server's reason if it refuses tools", async () => {
    const { url, server } = await startModelServer("mine", ["mine"]);
    server.failChat({ status: 400 });
    const finding = await findLanguageModel({ baseUrl: url, model: "mine" });
    expect(finding).toMatchObject({
      detail: `mine at ${url} does not reply: the model's server responded with 400: it failed`,
    });
  });
});
