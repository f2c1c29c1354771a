import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeCredentials,
  encodeCredentials,
  newSessionId,
} from "../../../../../adapters/telephony/whatsapp/session/records/link-credentials.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the credentials of a link", () => {
  test("name the session they were made for", () => {
    const system = new ManualSystem();
    const id = newSessionId((into) => system.random(into));
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(decodeCredentials(encodeCredentials(id))).toBe(id);
    expect(newSessionId((into) => system.random(into))).not.toBe(id);
  });

  test("of another server version stay valid", () => {
    for (const version of [0, 2, 1.5]) {
      const other = bytes(JSON.stringify({ kind: "whatsapp", version, sessionId: "0".repeat(32) }));
      expect(() => decodeCredentials(other)).toThrow(`is stored in format ${version}, and this server reads format 1`);
    }
  });

  test("of another network, or damaged ones, name none", () => {
    const other = { kind: "whatsapp", version: "1", sessionId: "0".repeat(32) };
    for (const text of ["", "null", "{}", '{"kind":"whatsapp","version":1,"sessionId":"../x"}', JSON.stringify(other)])
      expect(decodeCredentials(bytes(text))).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array(), (any) => decodeCredentials(any) === undefined));
    fc.assert(fc.property(fc.json(), (any) => decodeCredentials(bytes(any)) === undefined));
  });
});
