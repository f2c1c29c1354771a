import { createClient, type ListenItem } from "ringport/client";
import { describe, expect, test, vi } from "vitest";

const RATE = 8_000;
/** A piece of 20 ms, two channels of 16 bits. */
const PIECE = new ArrayBuffer((RATE / 50) * 4);
const STARTED_MESSAGE = JSON.stringify({ type: "started", sample_rate: RATE, encoding: "pcm_s16le", channels: [] });

/** A WebSocket with the test as its server. */
class FakeWebSocket {
  static latest: FakeWebSocket;
  readonly url: string;
  closeCode: number | undefined;
  onopen: (() => void) | undefined;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | undefined;
  onclose: ((event: { code: number; reason: string }) => void) | undefined;

  constructor(url: string) {
    this.url = url;
    FakeWebSocket.latest = this;
    queueMicrotask(() => this.onopen?.());
  }

  close(code?: number): void {
    this.closeCode = code;
  }

  receive(data: string | ArrayBuffer): void {
    this.onmessage?.({ data });
  }
}

/** A listening connection with the test as its server. */
async function openListening(signal?: AbortSignal) {
  const client = createClient({
    url: "http://ringport.test/voice",
    token: "t",
    fetch: async () => Response.json({ ticket: "abc", expires_at: "", url: "" }, { status: 201 }),
  });
  const listening = await client.listen("call_1", { WebSocket: FakeWebSocket, signal });
  return { listening, socket: FakeWebSocket.latest };
}

describe("a listening connection", () => {
  test("connects with a ticket under the base path", async () => {
    const { socket } = await openListening();
    expect(socket.url).toBe("ws://ringport.test/voice/v1/calls/call_1/listen?ticket=abc");
  });

  test.each([20, 200])("keeps a minute, in pieces of %i ms, for a slow loop", async (pieceMs) => {
    const { listening, socket } = await openListening();
    const piece = new ArrayBuffer(((RATE * pieceMs) / 1_000) * 4);
    socket.receive(STARTED_MESSAGE);
    for (let ms = 0; ms < 62_000; ms += pieceMs) socket.receive(piece);
    socket.receive(JSON.stringify({ type: "call_ended", status: "COMPLETED", reason: "message_played" }));
    socket.onclose?.({ code: 1000, reason: "" });
    const items: ListenItem[] = [];
    for await (const item of listening) items.push(item);
    const audio = items.filter(({ type }) => type === "audio");
    expect(audio.length).toBe(60_000 / pieceMs);
    expect(items.slice(0, 2)).toEqual([JSON.parse(STARTED_MESSAGE), { type: "gap", lost_ms: 2_000 }]);
    expect(items.at(-1)).toMatchObject({ type: "call_ended" });
  });

  test("drops no audio for a loop that keeps up, even in a long call", async () => {
    const { listening, socket } = await openListening();
    socket.receive(STARTED_MESSAGE);
    const types = new Set<string>();
    let pieces = 0;
    for await (const { type } of listening) {
      types.add(type);
      if (++pieces > 3_500) break;
      socket.receive(PIECE);
    }
    expect([...types]).toEqual(["started", "audio"]);
  });

  test("ends quietly when its loop breaks, and closes the connection", async () => {
    const { listening, socket } = await openListening();
    socket.receive(STARTED_MESSAGE);
    for await (const { type } of listening) if (type === "started") break;
    expect(socket.closeCode).toBe(1000);
    for await (const _ of listening) expect.unreachable();
  });

  test("throws its signal's reason immediately, even with unread items", async () => {
    for (const isClosed of [false, true]) {
      const stop = new AbortController();
      const { listening, socket } = await openListening(stop.signal);
      socket.receive(STARTED_MESSAGE);
      for (let i = 0; i < 3; i++) socket.receive(PIECE);
      if (isClosed) socket.onclose?.({ code: 1000, reason: "" });
      const types: string[] = [];
      const read = async () => {
        for await (const { type } of listening) {
          if (types.push(type) > 5) return;
          stop.abort(new Error("enough"));
          socket.receive(PIECE);
        }
      };
      await expect(read()).rejects.toThrow("enough");
      expect(types).toEqual(["started"]);
    }
  });

  test("removes its listener from the signal at every end", async () => {
    for (const end of ["server", "close", "loop"]) {
      const { signal } = new AbortController();
      const addListener = vi.spyOn(signal, "addEventListener");
      const removeListener = vi.spyOn(signal, "removeEventListener");
      const { listening, socket } = await openListening(signal);
      const [, listener] = addListener.mock.lastCall!;
      expect(removeListener).not.toHaveBeenCalledWith("abort", listener);
      socket.receive(STARTED_MESSAGE);
      if (end === "server") socket.onclose?.({ code: 1000, reason: "" });
      else if (end === "close") listening.close();
      else for await (const _ of listening) break;
      expect(removeListener, end).toHaveBeenCalledWith("abort", listener);
    }
  });

  test.each([
    [1006, "stream_lost", /listen again/],
    [1001, "stopping", /stopping/],
    [4001, "unauthorized", /revoked/],
    [4009, "stream_lost", /nothing was read for 30 s/],
  ])("that the server ends with %i throws %s", async (code, expected, words) => {
    const { listening, socket } = await openListening();
    socket.receive(STARTED_MESSAGE);
    socket.receive(PIECE);
    socket.onclose?.({ code, reason: code === 4009 ? "nothing was read for 30 s" : "" });
    const types: string[] = [];
    const read = async () => {
      for await (const { type } of listening) types.push(type);
    };
    await expect(read()).rejects.toMatchObject({ code: expected, message: expect.stringMatching(words) });
    expect(types, "what arrived before is read").toEqual(["started", "audio"]);
  });
});
