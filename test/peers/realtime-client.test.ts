import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import type { ConversationBackend, ConversationRecord } from "../support/openai-conversation.ts";
import { type OpenaiServer, openaiServer } from "../support/openai-server.ts";
import { missing } from "../support/runtimes.ts";
import { understandTones } from "../support/understand-tones.ts";

const MODULE = new URL("./node_modules/@openai/agents-realtime/dist/index.mjs", import.meta.url);
const skipReason = existsSync(MODULE)
  ? undefined
  : missing("the official client is not installed; `npm ci --prefix test/peers` installs it");
const API_KEY = "sk-loopback";
/** Size of a millisecond of audio, bytes: 24,000 samples of 16 bits per second. */
const BYTES_PER_MS = 48;
/** Speed of the fake's speech: 50 ms per character. */
const MS_PER_CHARACTER = 50;
const VOICE = tone(880, 600, 24_000, 6_000);
const SILENCE = new Int16Array(24_000);

/** An item of the client's own history. */
interface ClientItem {
  readonly type: string;
  readonly role?: string;
  readonly status?: string;
  readonly name?: string;
  readonly output?: string | null;
  readonly content?: readonly { readonly type: string; readonly text?: string; readonly transcript?: string | null }[];
}
type Listener = (event: Readonly<Record<string, unknown>>) => void;
/** The part of the client that the test uses; the package is missing when types are checked. */
interface Client {
  RealtimeAgent: new (options: object) => object;
  OpenAIRealtimeWebSocket: new (options: { readonly useInsecureApiKey: boolean }) => ClientTransport;
  RealtimeSession: new (agent: object, options: object) => ClientSession;
  tool(options: object): object;
}
interface ClientTransport {
  on(type: string, listener: Listener): void;
  readonly status: string;
}
interface ClientSession {
  connect(options: { readonly apiKey: string; readonly url: string }): Promise<void>;
  sendMessage(text: string): void;
  sendAudio(audio: ArrayBuffer): void;
  updateHistory(change: (history: readonly ClientItem[]) => readonly unknown[]): void;
  on(type: string, listener: Listener): void;
  close(): void;
  readonly history: readonly ClientItem[];
}

describe.skipIf(skipReason)(`the official client${skipReason ? ` (skipped: ${skipReason})` : ""}`, () => {
  let client: Client;
  let server: OpenaiServer;
  let talk: Talk | undefined;
  beforeAll(async () => {
    client = (await import(MODULE.href)) as Client;
  });
  afterEach(async () => {
    const unknownEvents = talk?.unknownEvents;
    talk?.session.close();
    talk = undefined;
    await server.close();
    expect(unknownEvents ?? [], "events of the fake that the client does not understand").toEqual([]);
  });

  /** A session of the client with the fake, and what the client has reported. */
  class Talk {
    readonly session: ClientSession;
    readonly transport: ClientTransport;
    readonly events: Readonly<Record<string, unknown>>[] = [];
    readonly errors: string[] = [];
    readonly inputs: unknown[] = [];
    audioBytes = 0;
    transcript = "";
    #unknownTypes = new Set<string>();
    #subscribedTypes = new Set<string>();

    constructor({ turnDetection, apiKey }: { readonly turnDetection?: object; readonly apiKey?: string }) {
      const lookup = client.tool({
        name: "free_tables",
        description: "The free tables of a day.",
        parameters: {
          type: "object",
          properties: { day: { type: "string" } },
          required: ["day"],
          additionalProperties: false,
        },
        strict: false,
        execute: async (input: unknown) => {
          this.inputs.push(input);
          return "two tables";
        },
      });
      const agent = new client.RealtimeAgent({ name: "clinic", instructions: "Be brief.", tools: [lookup] });
      this.transport = new client.OpenAIRealtimeWebSocket({ useInsecureApiKey: true });
      this.session = new client.RealtimeSession(agent, {
        transport: this.transport,
        tracingDisabled: true,
        config: {
          audio: {
            input: { transcription: { model: "ears" }, ...(turnDetection && { turnDetection }) },
            output: { format: { type: "audio/pcm", rate: 24_000 } },
          },
        },
      });
      this.transport.on("*", (event) => {
        this.events.push(event);
        const type = String(event.type);
        // The client reports known events again, under its own names.
        this.#unknownTypes.add(type);
        if (this.#subscribedTypes.has(type)) return;
        this.#subscribedTypes.add(type);
        this.transport.on(type, () => this.#unknownTypes.delete(type));
      });
      this.session.on("error", ({ error }) => this.errors.push(JSON.stringify(error)));
      this.session.on("audio", ({ data }) => {
        this.audioBytes += (data as ArrayBuffer).byteLength;
      });
      this.transport.on("audio_transcript_delta", ({ delta }) => {
        this.transcript += delta;
      });
      this.apiKey = apiKey ?? API_KEY;
    }

    private readonly apiKey: string;

    get unknownEvents(): string[] {
      return [...this.#unknownTypes];
    }

    /** Every item of the client's history, in short form. */
    get history(): string[] {
      return this.session.history.map(({ type, role, name, output, content = [] }) =>
        type === "function_call"
          ? `${name}: ${output}`
          : `${role}: ${content.map(({ text, transcript }) => text ?? transcript ?? "").join("")}`,
      );
    }

    count(type: string): number {
      return this.events.filter((event) => event.type === type).length;
    }

    connect(): Promise<void> {
      const url = `${server.baseUrl.replace("http", "ws")}/realtime?model=some-model`;
      return this.session.connect({ apiKey: this.apiKey, url });
    }

    /** Sends audio at once. */
    send(...pieces: readonly Int16Array[]): void {
      for (const samples of pieces)
        for (let offset = 0; offset < samples.length; offset += 480) {
          const bytes = pcmToBytes(samples.subarray(offset, offset + 480));
          this.session.sendAudio(bytes.slice().buffer as ArrayBuffer);
        }
    }

    until(condition: (talk: Talk) => boolean): Promise<void> {
      const summary = () => [...this.history, ...this.errors].join("\n");
      return vi.waitFor(() => expect(condition(this), summary()).toBe(true), { timeout: 10_000 });
    }
  }

  async function startConversation(
    answer: ConversationBackend["answer"],
    { turnDetection, pieceMs }: { readonly turnDetection?: object; readonly pieceMs?: number } = {},
  ): Promise<Talk> {
    const conversation = { answer, ...(pieceMs !== undefined && { pieceMs }) };
    server = await openaiServer({ understand: understandTones, conversation, apiKey: API_KEY });
    talk = new Talk({ ...(turnDetection && { turnDetection }) });
    await talk.connect();
    await talk.until((counts) => counts.count("session.updated") > 0);
    return talk;
  }

  const record = (): ConversationRecord => server.conversations[0]!;

  test("agrees with the fake on a session", async () => {
    await startConversation(() => ({ text: "Hello." }));
    await expect.poll(() => record().session.instructions).toBe("Be brief.");
    expect(record()).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      session: {
        model: expect.any(String),
        tools: [{ type: "function", name: "free_tables" }],
        audio: { input: { transcription: { model: "ears" } }, output: { format: { type: "audio/pcm", rate: 24_000 } } },
      },
    });
  });

  test("gets every byte of audio, and every word", async () => {
    const text = "Good morning, this is the clinic.";
    const dialogue = await startConversation(() => ({ text }));
    dialogue.session.sendMessage("Hello?");
    await dialogue.until(() => dialogue.count("response.done") === 1);
    expect(dialogue.audioBytes).toBe(text.length * MS_PER_CHARACTER * BYTES_PER_MS);
    expect(dialogue.transcript).toBe(text);
    expect(dialogue.history).toEqual(["user: Hello?", `assistant: ${text}`]);
    expect(dialogue.errors).toEqual([]);
  });

  test("is heard, transcribed and replied to", async () => {
    const dialogue = await startConversation(({ last }) => ({
      text: last === "user: tone 880" ? "I hear you." : "What?",
    }));
    dialogue.send(SILENCE, VOICE, SILENCE);
    await dialogue.until(
      () => dialogue.count("response.done") === 1 && dialogue.count("conversation.item.retrieved") === 1,
    );
    expect(dialogue.history).toEqual(["user: tone 880", "assistant: I hear you."]);
    expect(dialogue.errors).toEqual([]);
  });

  test("calls its function, and the model gets the result", async () => {
    const dialogue = await startConversation(({ last }) =>
      last.startsWith("function:")
        ? { text: "There are two." }
        : { text: "One moment.", calls: [{ name: "free_tables", arguments: { day: "2026-12-01" } }] },
    );
    dialogue.session.sendMessage("Is a table free?");
    await dialogue.until(() => dialogue.count("response.done") === 2);
    expect(dialogue.inputs).toEqual([{ day: "2026-12-01" }]);
    expect(record().history).toEqual([
      "user: Is a table free?",
      "assistant: One moment.",
      'call: free_tables {"day":"2026-12-01"}',
      "function: two tables",
      "assistant: There are two.",
    ]);
    expect(dialogue.history).toEqual([
      "user: Is a table free?",
      "assistant: One moment.",
      "free_tables: two tables",
      "assistant: There are two.",
    ]);
    const items = dialogue.events.filter(({ type }) => type === "conversation.item.done");
    expect(items.map(({ item }) => (item as ClientItem).type)).toEqual([
      ...["message", "message", "function_call", "function_call_output", "message"],
    ]);
    expect(dialogue.errors).toEqual([]);
  });

  test.for([true, false])("truncates unheard audio; the server stops without a request: %s", async (stopsItself) => {
    const longText = "One two three four five six seven eight nine ten. ".repeat(40);
    const dialogue = await startConversation(({ last }) => ({ text: last.includes("tone") ? "Yes?" : longText }), {
      turnDetection: { type: "server_vad", interruptResponse: stopsItself },
      pieceMs: 10, // a tenth of a piece's duration
    });
    dialogue.session.sendMessage("Speak at length.");
    await dialogue.until(() => dialogue.audioBytes > 0);
    const startedAt = performance.now();
    await pause(300); // the callee listens for a while: playback is measured by the clock
    dialogue.send(SILENCE, VOICE);
    await dialogue.until(() => dialogue.count("conversation.item.truncated") === 1);
    dialogue.send(SILENCE);
    await dialogue.until(() => dialogue.count("response.done") === 2);
    const elapsedMs = performance.now() - startedAt;
    const [truncation] = record().truncations;
    expect(record().truncations).toHaveLength(1);
    expect(truncation!.ms).toBeGreaterThan(250);
    expect(truncation!.ms).toBeLessThan(elapsedMs + 250);
    expect(record().receivedTypes.includes("response.cancel")).toBe(!stopsItself);
    const [firstDone] = dialogue.events.filter(({ type }) => type === "response.done");
    expect(firstDone).toMatchObject({
      response: {
        status: "cancelled",
        status_details: { reason: stopsItself ? "turn_detected" : "client_cancelled" },
        output: [{ type: "message", status: "incomplete" }],
      },
    });
    // Everything that began has ended.
    expect(dialogue.count("conversation.item.done")).toBe(dialogue.count("conversation.item.added"));
    expect(dialogue.count("response.output_item.done")).toBe(dialogue.count("response.output_item.added"));
    expect(dialogue.session.history.map(({ role, status }) => `${role} ${status}`)).toEqual([
      ...["user completed", "assistant incomplete", "user completed", "assistant completed"],
    ]);
    expect(dialogue.errors).toEqual([]);
  });

  test("inserts items at the requested places, and removes them", async () => {
    const dialogue = await startConversation(() => ({ text: "Good." }));
    dialogue.session.sendMessage("Yes.");
    await dialogue.until(() => dialogue.count("response.done") === 1);
    const message = (itemId: string, text: string) => ({
      ...{ itemId, type: "message", role: "user", status: "completed" },
      content: [{ type: "input_text", text }],
    });
    dialogue.session.updateHistory(([yes, good]) => [
      message("first", "Are you there?"),
      yes,
      message("third", "Well."),
      good,
    ]);
    const expectedHistory = ["user: Are you there?", "user: Yes.", "user: Well.", "assistant: Good."];
    await expect.poll(() => record().history).toEqual(expectedHistory);
    await dialogue.until(() => dialogue.history.length === 4);
    expect(dialogue.history).toEqual(expectedHistory);
    dialogue.session.updateHistory((history) => history.slice(1));
    await expect.poll(() => record().history).toEqual(expectedHistory.slice(1));
    expect(dialogue.errors).toEqual([]);
  });

  describe("a fault", () => {
    test("of the key rejects the connection", async () => {
      server = await openaiServer({ understand: understandTones, apiKey: API_KEY });
      talk = new Talk({ apiKey: "sk-wrong" });
      const refusal = await talk.connect().catch((error: unknown) => error);
      expect(JSON.stringify((refusal as { readonly message?: string }).message)).toContain("401");
      expect(server.conversations).toHaveLength(0);
    });

    test("of the model is reported", async () => {
      server = await openaiServer({ understand: understandTones, apiKey: API_KEY });
      server.failConversation("no_such_model");
      talk = new Talk({});
      await talk.connect();
      await talk.until(({ errors }) => errors.some((error) => error.includes("model_not_found")));
    });

    test("of a reply ends only that reply", async () => {
      const dialogue = await startConversation(() => ({ text: "Hello." }));
      server.failConversation("failed");
      dialogue.session.sendMessage("Hello?");
      await dialogue.until(() => dialogue.count("response.done") === 1);
      expect(dialogue.events.at(-1)).toMatchObject({
        response: { status: "failed", status_details: { error: { code: "overloaded" } } },
      });
      dialogue.session.sendMessage("Hello?");
      await dialogue.until(() => dialogue.history.includes("assistant: Hello."));
    });

    test("without effect is reported, and the reply continues", async () => {
      const dialogue = await startConversation(() => ({ text: "Hello." }));
      server.failConversation("error");
      dialogue.session.sendMessage("Hello?");
      await dialogue.until(() => dialogue.count("response.done") === 1 && dialogue.errors.length === 1);
      expect(dialogue.errors[0]).toContain("This changes nothing.");
      expect(dialogue.history.at(-1)).toBe("assistant: Hello.");
    });

    test("within a function's arguments calls no function", async () => {
      const dialogue = await startConversation(() => ({
        calls: [{ name: "free_tables", arguments: { day: "2026-12-01" } }],
      }));
      server.failConversation("half_a_call");
      dialogue.session.sendMessage("Is a table free?");
      await dialogue.until(() => dialogue.count("response.done") === 1);
      expect(dialogue.inputs).toEqual([]);
      expect(dialogue.events.at(-1)).toMatchObject({ response: { status: "incomplete" } });
    });

    test("of the connection disconnects the client", async () => {
      const dialogue = await startConversation(() => ({ text: "A first sentence, and then a second one." }));
      server.failConversation("drop");
      dialogue.session.sendMessage("Hello?");
      await dialogue.until(() => dialogue.transport.status === "disconnected");
      expect(dialogue.audioBytes).toBeGreaterThan(0);
    });
  });
});
