import type { HttpToolsTuning } from "../../src/options.ts";
import type { AgentTool } from "../../src/ports/agent-tool.ts";
import { jsonOrFile } from "./json-or-file.ts";

const NAME = "the HTTP tools (RINGPORT_AGENT_TOOLS)";
const JSON_SETTING = {
  name: NAME,
  short: '[{"name":…}]',
  example:
    '[{"name":"order","description":"Finds an order.","url":"https://api.example.com/orders/{id}","parameters":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}]',
};

/**
 * The tools that the options name: as they are, as JSON text, or in a file with it.
 * @throws {Error} one line that names every fault with its field, and never a value
 */
export async function httpTools(tuning: HttpToolsTuning | undefined): Promise<readonly AgentTool[]> {
  if (tuning?.tools === undefined) return [];
  const { tools: given, allowPrivate = false } = tuning;
  const [{ parseHttpTools }, { httpTool }] = await Promise.all([
    import("../agent/tools/parse-http-tools.ts"),
    import("../agent/tools/http-tool.ts"),
  ]);
  const { tools, faults } = parseHttpTools(
    typeof given === "string" ? await jsonOrFile(given, JSON_SETTING) : given,
    allowPrivate,
  );
  if (faults.length > 0) throw new Error(`${NAME} cannot be used: ${faults.join("; ")}`);
  return tools.map((tool) => httpTool(tool, { allowPrivate }));
}
