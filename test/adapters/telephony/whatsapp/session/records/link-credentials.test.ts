import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeCredentials,
  encodeCredentials,
  newSessionId,
} from "../../../../../../adapters/telephony/whatsapp/session/records/link-credentials.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a link's credentials", () => {
  test("name their session", () => {
    const system = new ManualSystem();
    const id = newSessionId((target) => system.random(target));
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(decodeCredentials(encodeCredentials(id))).toBe(id);
    expect(newSessionId((target) => system.random(target))).not.toBe(id);
  });

  test("are refused if their format version differs", () => {
    for (const version of [0, 2, 1.5]) {
      const otherVersion = bytes(JSON.stringify({ kind: "whatsapp", version, sessionId: "0".repeat(32) }));
      expect(() => decodeCredentials(otherVersion)).toThrow(
        `is stored in format ${version}, and this server reads format 1`,
      );
    }
  });

  test("name no session if damaged or from another network", () => {
    const foreignCredentials = { kind: "whatsapp", version: "1", sessionId: "0".repeat(32) };
    for (const text of [
      "",
      "null",
      "{}",
      '{"kind":"whatsapp","version":1,"sessionId":"../x"}',
      JSON.stringify(foreignCredentials),
    ])
      expect(decodeCredentials(bytes(text))).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array(), (data) => decodeCredentials(data) === undefined));
    fc.assert(fc.property(fc.json(), (json) => decodeCredentials(bytes(json)) === undefined));
  });
});
