import { ConfigurationError } from "../../src/base/error.ts";
import type { HttpToolOptions, HttpToolsTuning } from "../../src/options.ts";
import type { AgentTool } from "../../src/ports/agent-tool.ts";
import type { HostLookup } from "../untrusted-hosts/host-lookup.ts";
import { jsonOrFile } from "./json-or-file.ts";

const NAME = "the HTTP tools (RINGPORT_AGENT_TOOLS)";
const JSON_SETTING = {
  name: NAME,
  shortExample: '[{"name":…}]',
  example:
    '[{"name":"order","description":"Finds an order.","url":"https://api.example.com/orders/{id}","parameters":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}]',
};

/**
 * The HTTP tools in the options.
 * @param hosts looks up their servers
 * @throws {ConfigurationError} the one-line message names every fault with its field, but never a value
 */
export async function httpTools(tuning: HttpToolsTuning | undefined, hosts: HostLookup): Promise<readonly AgentTool[]> {
  if (tuning?.tools === undefined) return [];
  const { httpTool } = await import("../agent/tools/http-tool.ts");
  const { allowPrivate = false } = tuning;
  return (await httpToolOptions(tuning)).map((tool) => httpTool(tool, { allowPrivate, hosts }));
}

/**
 * Reads the tools from the options: an array, JSON text, or the path of a JSON file.
 * @throws {ConfigurationError} as for {@link httpTools}
 */
export async function httpToolOptions(tuning: HttpToolsTuning): Promise<readonly HttpToolOptions[]> {
  const { tools: source, allowPrivate = false } = tuning;
  const { parseHttpTools } = await import("../agent/tools/parse-http-tools.ts");
  const { tools, faults } = parseHttpTools(
    typeof source === "string" ? await jsonOrFile(source, JSON_SETTING) : source,
    allowPrivate,
  );
  if (faults.length > 0) throw new ConfigurationError(`${NAME} cannot be used: ${faults.join("; ")}`);
  return tools;
}
