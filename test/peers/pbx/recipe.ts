import { readFileSync } from "node:fs";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { ACCOUNT } from "./pbx.ts";

const PAGE = new URL("../../../docs/sip.md", import.meta.url);

/**
 * The trunk that the documentation shows under this title, with the account of the tests.
 * @throws {Error} the page has no such title, or no trunk below it
 */
export function recipe(title: string): Omit<Trunk, "name"> {
  const section = readFileSync(PAGE, "utf8").split(`\n### ${title}\n`)[1]?.split("\n### ")[0];
  const json = section && /```json Trunks\n([\s\S]*?)```/.exec(section)?.[1];
  if (!json) throw new Error(`docs/sip.md shows no trunk under "${title}"`);
  const [{ name: _, ...trunk }] = JSON.parse(json) as [Trunk];
  return { ...trunk, ...ACCOUNT };
}
