import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { httpTool } from "../../../adapters/agent/tools/http-tool.ts";
import { parseHttpTools } from "../../../adapters/agent/tools/parse-http-tools.ts";
import { urlTemplate } from "../../../adapters/agent/tools/url-template.ts";
import { HostLookup } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { ToolFailed, toolsFault } from "../../../src/ports/agent-tool.ts";
import { CODE_POINT } from "../../support/fuzz.ts";

const SECRET = "hunter2-hunter2";
const TOOL = {
  name: "order",
  description: "Finds an order.",
  url: "https://api.example.com/orders/{id}",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  headers: { authorization: `Bearer ${SECRET}` },
};

describe("the list of HTTP tools", () => {
  test("is accepted unchanged if it is valid", () => {
    const otherTool = { ...TOOL, name: "book", method: "POST", timeoutMs: 5_000, headers: undefined };
    expect(parseHttpTools([TOOL, otherTool], false)).toEqual({ tools: [TOOL, otherTool], faults: [] });
  });

  test.for<[change: object, fault: RegExp]>([
    [{ name: "a b" }, /^tool number 1: name must have 1 to 64 characters/],
    [{ name: undefined }, /^tool number 1: name must be a string/],
    [{ description: " " }, /^tool order: description must not be empty/],
    [{ parameters: { type: "string" } }, /^tool order: parameters must have "type": "object"/],
    [
      { parameters: { type: "object", properties: { id: { pattern: "(" } } } },
      /parameters must have only valid regular/,
    ],
    [{ parameters: { type: "object" } }, /url has the placeholder \{id\}, but parameters have no property/],
    [{ url: "http://api.example.com/{id}" }, /url must begin with https:\/\/, unless RINGPORT_AGENT_TOOLS_ALLOW/],
    [{ url: "https://{id}.example.com/" }, /url must look like/],
    [{ url: "https://api.example.com{id}" }, /url must look like/],
    [{ url: `https://me:${SECRET}@api.example.com/` }, /url must look like/],
    [{ url: "https://api.example.com/a/../{id}" }, /url must look like/],
    [{ url: "https://api.example.com/{id" }, /url must look like/],
    [{ method: "TRACE" }, /method must be GET, POST/],
    [{ headers: `Bearer ${SECRET}` }, /headers must be an object/],
    [{ headers: { authorization: [SECRET] } }, /headers must have strings as values/],
    [{ headers: { "x-a": `${SECRET}\r\nx-b: 1` } }, /headers must have only ASCII characters in values/],
    [{ headers: { [`${SECRET} `]: "x" } }, /headers must have valid header names/],
    [{ headers: { Host: "other.example.com" } }, /headers must not contain Host/],
    [{ timeoutMs: 0 }, /timeoutMs must be from 1 to 60000/],
    [{ header: { authorization: SECRET } }, /header is unknown/],
  ])("is rejected with the name of the field, never its value: %j", ([change, fault]) => {
    const { faults, tools } = parseHttpTools([{ ...TOOL, ...change }], false);
    expect(tools).toEqual([]);
    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(faults.join()).not.toContain(SECRET);
  });

  test.for([undefined, {}, "x", 7, null])("must be a list, not %j", (value) => {
    expect(parseHttpTools(value, false).faults).toEqual(["they must be a list"]);
  });

  test("is parsed without throwing, and its accepted tools are usable", () => {
    const anyValue = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    const tool = fc.record(
      Object.fromEntries(
        ["name", "description", "url", "parameters", "method", "headers", "timeoutMs", "more"].map((field) => [
          field,
          fc.oneof({ weight: 3, arbitrary: fc.constant((TOOL as Record<string, unknown>)[field]) }, anyValue),
        ]),
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(anyValue, fc.array(fc.oneof(tool, anyValue), { maxLength: 4 })),
        fc.boolean(),
        (value, allowPrivate) => {
          const { tools, faults } = parseHttpTools(value, allowPrivate);
          expect(faults.length > 0 || tools.length === (value as unknown[]).length).toBe(true);
          for (const fault of faults) expect(fault).toMatch(/^[ -~]{1,400}$/);
          for (const options of tools)
            expect(toolsFault([httpTool(options, { hosts: new HostLookup() })])).toBeUndefined();
        },
      ),
    );
  });
});

describe("a URL with placeholders", () => {
  const template = urlTemplate("https://api.example.com/a/{x}/b{y}{z}?q={x}&r=1")!;

  test("keeps its host, path and query, whatever the arguments", () => {
    const argument = fc.oneof(
      fc.string({ unit: CODE_POINT }),
      fc.constantFrom(".", "..", "/", "\\", "", "\uD800", "%2e%2e"),
    );
    fc.assert(
      fc.property(argument, argument, argument, (x, y, z) => {
        let path: string;
        try {
          ({ path } = template.fill({ x, y, z }));
        } catch (error) {
          expect(error).toBeInstanceOf(ToolFailed);
          return;
        }
        const url = new URL(template.origin + path);
        expect(url.origin + url.pathname + url.search).toBe(template.origin + path);
        expect(url.hash).toBe("");
        expect(url.pathname).toMatch(/^\/a\/[^/]+\/b[^/]+$/);
        expect([...url.searchParams.keys()]).toEqual(["q", "r"]);
        expect(url.searchParams.get("q")).toBe(new URLSearchParams({ x }).get("x"));
      }),
      { numRuns: 300 },
    );
  });
});
