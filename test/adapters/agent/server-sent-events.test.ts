import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventData } from "../../../adapters/provider-http/response-body.ts";
import { fuzz } from "../../support/fuzz.ts";

async function* splitIntoPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += length) yield bytes.subarray(offset, offset + length);
}

async function read(text: string, length = 7): Promise<string[]> {
  const data: string[] = [];
  for await (const event of eventData(splitIntoPieces(new TextEncoder().encode(text), length))) data.push(event);
  return data;
}

describe("an event stream", () => {
  test("yields each event's data, with any line ending", async () => {
    const text = ": comment\r\nevent: x\r\ndata: one\r\n\r\ndata:two\ndata: lines\n\n\n\ndata: three\r\n\r\n";
    for (const length of [1, 2, 7, 1_000]) expect(await read(text, length)).toEqual(["one", "two\nlines", "three"]);
  });

  test("drops an incomplete event", async () => {
    expect(await read("data: one\n\ndata: two\n")).toEqual(["one"]);
  });

  test("is refused above 1 MiB per event", async () => {
    await expect(read(`data: ${"x".repeat(1 << 21)}`, 1 << 16)).rejects.toThrow(
      "an event of more than 1048576 characters",
    );
    await expect(read("data: xxxxxxxxx\n".repeat(1 << 17), 1 << 16)).rejects.toThrow("an event of more than");
  });

  test("is refused within seconds if a long event arrives in small pieces", { timeout: 20_000 }, async () => {
    await expect(read(`data: ${"x".repeat(1 << 21)}`, 16)).rejects.toThrow("an event of more than 1048576 characters");
  });

  fuzz(
    "is the same however its bytes are cut",
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" })),
      fc.integer({ min: 1, max: 9 }),
      async (texts, length) => {
        const cleanTexts = texts.map((text) => text.replace(/[\r\n]/g, ""));
        expect(await read(cleanTexts.map((text) => `data: ${text}\n\n`).join(""), length)).toEqual(cleanTexts);
      },
    ),
  );
});
