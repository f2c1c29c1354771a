import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import type { Conversationalist, ConversationRecord } from "../support/openai-conversation.ts";
import { type OpenaiServer, openaiServer } from "../support/openai-server.ts";
import { missing } from "../support/runtimes.ts";
import { understandTones } from "../support/understand-tones.ts";

const MODULE = new URL("./node_modules/@openai/agents-realtime/dist/index.mjs", import.meta.url);
const absent = existsSync(MODULE)
  ? undefined
  : missing("the official client is not installed; `npm ci --prefix test/peers` installs it");
const API_KEY = "sk-loopback";
/** 24,000 samples of 16 bits. */
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
/** The used part of the client; the package is missing when types are checked. */
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

describe.skipIf(absent)(`the official client${absent ? ` (skipped: ${absent})` : ""}`, () => {
  let client: Client;
  let server: OpenaiServer;
  let talk: Talk | undefined;
  beforeAll(async () => {
    client = (await import(MODULE.href)) as Client;
  });
  afterEach(async () => {
    const unknown = talk?.unknown;
    talk?.session.close();
    talk = undefined;
    await server.close();
    expect(unknown ?? [], "events of the fake that the client does not understand").toEqual([]);
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
    #unknown = new Set<string>();
    #known = new Set<string>();

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
        this.#unknown.add(type);
        if (this.#known.has(type)) return;
        this.#known.add(type);
        this.transport.on(type, () => this.#unknown.delete(type));
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

    get unknown(): string[] {
      return [...this.#unknown];
    }

    /** Every item of the client's history, in short. */
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
        for (let at = 0; at < samples.length; at += 480) {
          const bytes = pcmToBytes(samples.subarray(at, at + 480));
          this.session.sendAudio(bytes.slice().buffer as ArrayBuffer);
        }
    }

    until(what: (talk: Talk) => boolean): Promise<void> {
      const story = () => [...this.history, ...this.errors].join("\n");
      return vi.waitFor(() => expect(what(this), story()).toBe(true), { timeout: 10_000 });
    }
  }

  async function talking(
    answer: Conversationalist["answer"],
    { turnDetection, pieceMs }: { readonly turnDetection?: object; readonly pieceMs?: number } = {},
  ): Promise<Talk> {
    const conversation = { answer, ...(pieceMs !== undefined && { pieceMs }) };
    server = await openaiServer({ understand: understandTones, conversation, apiKey: API_KEY });
    talk = new Talk({ ...(turnDetection && { turnDetection }) });
    await talk.connect();
    await talk.until((one) => one.count("session.updated") > 0);
    return talk;
  }

  const record = (): ConversationRecord => server.conversations[0]!;

  test("agrees with the fake on a session", async () => {
    await talking(() => ({ text: "Hello." }));
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
    const one = await talking(() => ({ text }));
    one.session.sendMessage("Hello?");
    await one.until(() => one.count("response.done") === 1);
    expect(one.audioBytes).toBe(text.length * MS_PER_CHARACTER * BYTES_PER_MS);
    expect(one.transcript).toBe(text);
    expect(one.history).toEqual(["user: Hello?", `assistant: ${text}`]);
    expect(one.errors).toEqual([]);
  });

  test("is heard, transcribed and replied to", async () => {
    const one = await talking(({ last }) => ({ text: last === "user: tone 880" ? "I hear you." : "What?" }));
    one.send(SILENCE, VOICE, SILENCE);
    await one.until(() => one.count("response.done") === 1 && one.count("conversation.item.retrieved") === 1);
    expect(one.history).toEqual(["user: tone 880", "assistant: I hear you."]);
    expect(one.errors).toEqual([]);
  });

  test("calls its function, and the model gets the result", async () => {
    const one = await talking(({ last }) =>
      last.startsWith("function:")
        ? { text: "There are two." }
        : { text: "One moment.", calls: [{ name: "free_tables", arguments: { day: "2026-12-01" } }] },
    );
    one.session.sendMessage("Is a table free?");
    await one.until(() => one.count("response.done") === 2);
    expect(one.inputs).toEqual([{ day: "2026-12-01" }]);
    expect(record().history).toEqual([
      "user: Is a table free?",
      "assistant: One moment.",
      'call: free_tables {"day":"2026-12-01"}',
      "function: two tables",
      "assistant: There are two.",
    ]);
    expect(one.history).toEqual([
      "user: Is a table free?",
      "assistant: One moment.",
      "free_tables: two tables",
      "assistant: There are two.",
    ]);
    const items = one.events.filter(({ type }) => type === "conversation.item.done");
    expect(items.map(({ item }) => (item as ClientItem).type)).toEqual([
      ...["message", "message", "function_call", "function_call_output", "message"],
    ]);
    expect(one.errors).toEqual([]);
  });

  test.for([true, false])("truncates unheard audio; the server stops without a request: %s", async (itself) => {
    const long = "One two three four five six seven eight nine ten. ".repeat(40);
    const one = await talking(({ last }) => ({ text: last.includes("tone") ? "Yes?" : long }), {
      turnDetection: { type: "server_vad", interruptResponse: itself },
      pieceMs: 10, // a tenth of a piece's duration
    });
    one.session.sendMessage("Speak at length.");
    await one.until(() => one.audioBytes > 0);
    const begunAt = performance.now();
    await pause(300); // the callee listens for a while: playback is measured by the clock
    one.send(SILENCE, VOICE);
    await one.until(() => one.count("conversation.item.truncated") === 1);
    one.send(SILENCE);
    await one.until(() => one.count("response.done") === 2);
    const elapsedMs = performance.now() - begunAt;
    const [cut] = record().truncated;
    expect(record().truncated).toHaveLength(1);
    expect(cut!.ms).toBeGreaterThan(250);
    expect(cut!.ms).toBeLessThan(elapsedMs + 250);
    expect(record().received.includes("response.cancel")).toBe(!itself);
    const [first] = one.events.filter(({ type }) => type === "response.done");
    expect(first).toMatchObject({
      response: {
        status: "cancelled",
        status_details: { reason: itself ? "turn_detected" : "client_cancelled" },
        output: [{ type: "message", status: "incomplete" }],
      },
    });
    // Everything that began has ended.
    expect(one.count("conversation.item.done")).toBe(one.count("conversation.item.added"));
    expect(one.count("response.output_item.done")).toBe(one.count("response.output_item.added"));
    expect(one.session.history.map(({ role, status }) => `${role} ${status}`)).toEqual([
      ...["user completed", "assistant incomplete", "user completed", "assistant completed"],
    ]);
    expect(one.errors).toEqual([]);
  });

  test("inserts items where it wants them, and removes them", async () => {
    const one = await talking(() => ({ text: "Good." }));
    one.session.sendMessage("Yes.");
    await one.until(() => one.count("response.done") === 1);
    const message = (itemId: string, text: string) => ({
      ...{ itemId, type: "message", role: "user", status: "completed" },
      content: [{ type: "input_text", text }],
    });
    one.session.updateHistory(([yes, good]) => [
      message("first", "Are you there?"),
      yes,
      message("third", "Well."),
      good,
    ]);
    const expected = ["user: Are you there?", "user: Yes.", "user: Well.", "assistant: Good."];
    await expect.poll(() => record().history).toEqual(expected);
    await one.until(() => one.history.length === 4);
    expect(one.history).toEqual(expected);
    one.session.updateHistory((history) => history.slice(1));
    await expect.poll(() => record().history).toEqual(expected.slice(1));
    expect(one.errors).toEqual([]);
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
      const one = await talking(() => ({ text: "Hello." }));
      server.failConversation("failed");
      one.session.sendMessage("Hello?");
      await one.until(() => one.count("response.done") === 1);
      expect(one.events.at(-1)).toMatchObject({
        response: { status: "failed", status_details: { error: { code: "overloaded" } } },
      });
      one.session.sendMessage("Hello?");
      await one.until(() => one.history.includes("assistant: Hello."));
    });

    test("without effect is reported, and the reply continues", async () => {
      const one = await talking(() => ({ text: "Hello." }));
      server.failConversation("error");
      one.session.sendMessage("Hello?");
      await one.until(() => one.count("response.done") === 1 && one.errors.length === 1);
      expect(one.errors[0]).toContain("This changes nothing.");
      expect(one.history.at(-1)).toBe("assistant: Hello.");
    });

    test("within a function's arguments calls no function", async () => {
      const one = await talking(() => ({ calls: [{ name: "free_tables", arguments: { day: "2026-12-01" } }] }));
      server.failConversation("half_a_call");
      one.session.sendMessage("Is a table free?");
      await one.until(() => one.count("response.done") === 1);
      expect(one.inputs).toEqual([]);
      expect(one.events.at(-1)).toMatchObject({ response: { status: "incomplete" } });
    });

    test("of the connection disconnects the client", async () => {
      const one = await talking(() => ({ text: "A first sentence, and then a second one." }));
      server.failConversation("drop");
      one.session.sendMessage("Hello?");
      await one.until(() => one.transport.status === "disconnected");
      expect(one.audioBytes).toBeGreaterThan(0);
    });
  });
});
