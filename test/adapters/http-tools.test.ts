import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { httpTools } from "../../adapters/defaults/http-tools.ts";
import { embedded } from "../../adapters/defaults.ts";
import { HostLookup } from "../../adapters/untrusted-hosts/host-lookup.ts";
import { printedForms } from "../support/printed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const hosts = new HostLookup();
const SECRET = "hunter2-hunter2";
const ORDER = {
  name: "order",
  description: "Finds an order.",
  url: "https://api.example.com/orders",
  parameters: { type: "object" },
  headers: { authorization: SECRET },
};

describe("HTTP tools", () => {
  test("are accepted as objects, as JSON, or from a JSON file, and print no secret", async () => {
    const file = join(temporaryFolder("tools"), "tools.json");
    writeFileSync(file, JSON.stringify([ORDER]));
    for (const tools of [[ORDER], JSON.stringify([ORDER]), file]) {
      const acceptedTools = await httpTools({ tools }, hosts);
      expect(acceptedTools.map(({ name }) => name)).toEqual(["order"]);
      expect(printedForms(acceptedTools)).not.toContain(SECRET);
    }
    expect(await httpTools(undefined, hosts)).toEqual([]);
  });

  test.for([
    ["/nowhere/tools.json", /\(RINGPORT_AGENT_TOOLS\): the file \/nowhere\/tools\.json cannot be read \(ENOENT\)/],
    [`[{"a":"${SECRET}" "b"}]`, /\(RINGPORT_AGENT_TOOLS\) are not JSON/],
    [
      JSON.stringify([{ ...ORDER, url: "ftp://x" }]),
      /\(RINGPORT_AGENT_TOOLS\) cannot be used: tool order: url must look like/,
    ],
    [JSON.stringify([ORDER, ORDER]), /two tools are called order; give one of them another name/],
  ] as const)("are refused if unusable, before anything is created: %s", async ([tools, message]) => {
    const data = join(temporaryFolder("tools"), "data");
    const fault = await embedded({ data, embedded: { httpTools: { tools } } }).catch((error: Error) => error);
    expect((fault as Error).message).toMatch(message);
    expect((fault as Error).message).not.toContain(SECRET);
    expect(existsSync(data)).toBe(false);
  });

  test("may not share a name with one of the program's tools", async () => {
    const data = join(temporaryFolder("tools"), "data");
    const agentTools = [{ ...ORDER, run: async () => null }];
    const options = { data, agentTools, embedded: { httpTools: { tools: [ORDER] } } };
    await expect(embedded(options)).rejects.toThrow("two tools are called order");
  });
});
