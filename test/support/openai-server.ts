import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { decodeWav } from "../../src/audio/wav/wav.ts";
import { type ChatFault, type ChatReply, type ChatRequest, errorBody, streamCompletion } from "./openai-chat.ts";
import {
  type ConversationBackend,
  type ConversationFault,
  type ConversationRecord,
  serveConversation,
} from "./openai-conversation.ts";
import { type RealtimeFault, type RealtimeRecord, serveRealtime } from "./openai-realtime.ts";

/** Fault of one transcription request. */
export type TranscriptionFault =
  /** Responds with this status instead of a text. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Never responds; or declares the whole and sends half; or sends half and ends; or cuts the connection. */
  | "silent"
  | "stall"
  | "truncate"
  | "drop"
  /** Responds after this many ms. */
  | { readonly after: number };

/** A received request. */
export interface TranscriptionRequest {
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

/** The speech in a stretch of audio. */
export type Understand = (samples: Int16Array, sampleRate: number) => string | Promise<string>;

/** A fake of the servers that transcribe with the protocols of OpenAI, on loopback; it analyses real audio. */
export interface OpenaiServer {
  /** Base URL with `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly TranscriptionRequest[];
  /** Realtime connections, the oldest first. */
  readonly connections: readonly RealtimeRecord[];
  readonly chats: readonly ChatRequest[];
  /** Faults of the next completion requests, one each. */
  failChat(...faults: ChatFault[]): void;
  /** Faults of the next requests, one each. */
  fail(...faults: TranscriptionFault[]): void;
  /** Faults of the next realtime connections, one each. */
  failRealtime(...faults: RealtimeFault[]): void;
  /** Conversations with a speech-to-speech model, the oldest first. */
  readonly conversations: readonly ConversationRecord[];
  /** Faults of the next conversations, or their next replies, one each; undefined for none. */
  failConversation(...faults: (ConversationFault | undefined)[]): void;
  close(): Promise<void>;
}

export interface OpenaiServerOptions {
  readonly understand: Understand;
  /** Model. Default: it says "Hello." */
  readonly answer?: (request: ChatRequest) => ChatReply;
  /** Speech-to-speech model. Default: it says "Hello." */
  readonly conversation?: ConversationBackend;
  /** Models that it lists. Default: none, and no list. */
  readonly models?: readonly string[];
  /** Key; others are refused. */
  readonly apiKey?: string;
  /** Port to reuse after a restart. */
  readonly port?: number;
}

/** Starts the fake. Written from the public reference; the official client verifies that it speaks the protocol. */
export async function openaiServer({
  understand,
  answer = () => ({ text: "Hello." }),
  conversation = { answer: () => ({ text: "Hello." }) },
  models,
  apiKey,
  port = 0,
}: OpenaiServerOptions): Promise<OpenaiServer> {
  const requests: TranscriptionRequest[] = [];
  const connections: RealtimeRecord[] = [];
  const faults: TranscriptionFault[] = [];
  const realtimeFaults: RealtimeFault[] = [];
  const chats: ChatRequest[] = [];
  const chatFaults: ChatFault[] = [];
  const conversations: ConversationRecord[] = [];
  const conversationFaults: (ConversationFault | undefined)[] = [];
  /** Status of the response to a failed upgrade, over plain HTTP. */
  let refusalStatus = 426;
  const isRefused = ({ headers }: IncomingMessage): boolean =>
    apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`;

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://fake.test");
    if (isRefused(request)) return refuse(response, 401, wrongKey(request));
    if (pathname === "/v1/realtime") return refuse(response, refusalStatus, "it is a WebSocket");
    if (request.method === "POST" && pathname === "/v1/chat/completions") return complete(request, response);
    if (models && pathname === "/v1/models") return list(response, models);
    if (request.method !== "POST" || pathname !== "/v1/audio/transcriptions") return refuse(response, 404, "not found");
    await transcribe(request, response);
  });

  async function transcribe(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await formOf(request);
    const file = form.get("file");
    if (!(file instanceof Blob) || !form.get("model")) return refuse(response, 400, "file and model are required");
    const { samples, sampleRate } = decodeWav(new Uint8Array(await file.arrayBuffer()));
    const names = [...new Set(form.keys())].filter((name) => name !== "file");
    const fields = Object.fromEntries(
      names.map((name) => [name, name.endsWith("[]") ? form.getAll(name).map(String) : String(form.get(name))]),
    );
    requests.push({ authorization: request.headers.authorization, fields, samples, sampleRate });
    const fault = faults.shift();
    if (fault === "silent") return;
    if (fault === "drop") return void request.socket.destroy();
    if (typeof fault === "object" && "status" in fault) {
      const headers = { "content-type": "application/json", ...fault.headers };
      return void response.writeHead(fault.status, headers).end(fault.body ?? errorBody("it failed"));
    }
    if (typeof fault === "object") await pause(fault.after);
    const responseText = JSON.stringify({ text: await understand(samples, sampleRate) });
    response.writeHead(200, { "content-type": "application/json" });
    if (fault === "stall") response.write(responseText.slice(0, responseText.length / 2));
    else response.end(fault === "truncate" ? responseText.slice(0, responseText.length / 2) : responseText);
  }

  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = JSON.parse(text) as {
      model: string;
      messages: ChatRequest["messages"];
      tools?: readonly { readonly function: { readonly name: string } }[];
      stream?: boolean;
      tool_choice?: string;
      response_format?: { readonly type: string; readonly json_schema?: { readonly schema?: unknown } };
    };
    if (!body.model || !Array.isArray(body.messages)) return refuse(response, 400, "model and messages are required");
    const chat: ChatRequest = {
      authorization: request.headers.authorization,
      port: request.socket.remotePort,
      body: text,
      model: body.model,
      messages: body.messages,
      toolChoice: body.tool_choice,
      format: body.response_format?.json_schema?.schema,
      tools: (body.tools ?? []).map((tool) => tool.function.name),
    };
    chats.push(chat);
    const fault = chatFaults.shift();
    if (fault === "silent") return;
    if (typeof fault === "object")
      return void response
        .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
        .end(errorBody("it failed"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    await streamCompletion(response, body.model, answer(chat), fault);
  }

  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://fake.test");
    const transcribes = url.searchParams.get("intent") === "transcription";
    const fault = transcribes ? realtimeFaults.shift() : undefined;
    const [firstFault] = conversationFaults;
    const refusal = transcribes ? fault : typeof firstFault === "object" ? firstFault : undefined;
    if (!transcribes && refusal !== undefined) conversationFaults.shift();
    refusalStatus = typeof refusal === "object" && "status" in refusal ? refusal.status : 426;
    if (isRefused(request) || refusalStatus !== 426 || url.pathname !== "/v1/realtime") {
      const status = isRefused(request) ? 401 : refusalStatus;
      socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      if (transcribes) connections.push(serveRealtime(client, request, fault, understand));
      else conversations.push(serveConversation(client, request, conversationFaults, understand, conversation));
    });
  });

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections,
    chats,
    failChat: (...next) => void chatFaults.push(...next),
    fail: (...next) => void faults.push(...next),
    conversations,
    failConversation: (...next) => void conversationFaults.push(...next),
    failRealtime: (...next) => void realtimeFaults.push(...next),
    close: () => closeServer(server, sockets),
  };
}

/** Resolves when a server and all its sockets are closed. */
export function closeServer(server: Server, sockets: WebSocketServer): Promise<void> {
  return new Promise((resolve) => {
    for (const client of sockets.clients) client.terminate();
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function wrongKey({ headers }: IncomingMessage): string {
  return `Incorrect API key provided: ${headers.authorization?.replace(/^Bearer /, "") ?? "none"}.`;
}

function list(response: ServerResponse, models: readonly string[]): void {
  const data = models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "library" }));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(errorBody(message, status === 401 ? "invalid_api_key" : null));
}

async function formOf(request: IncomingMessage): Promise<FormData> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  return new Response(Buffer.concat(pieces), { headers }).formData() as Promise<FormData>;
}
