import type { CallerId } from "../../src/client/index.ts";
import type { Command, ParsedLine } from "./command.ts";

/** Options that set the caller of one call, or of all of an instance's calls. */
export const CALLER_OPTIONS: Command["options"] = [
  {
    name: "from",
    placeholder: "+NUMBER",
    help: "The number to call from, if the network lets you choose. Default: the network's own.",
  },
  { name: "from-name", placeholder: "NAME", help: "The caller's name, if the network shows names." },
  { name: "withheld", help: "Withholds number and name from the callee." },
];

/** The caller set by the options; undefined if they set none. */
export function callerIn({ values }: ParsedLine): CallerId | undefined {
  const phoneNumber = values.get("from") as string | undefined;
  const displayName = values.get("from-name") as string | undefined;
  const withheld = values.get("withheld") === true;
  if (phoneNumber === undefined && displayName === undefined && !withheld) return undefined;
  return {
    ...(phoneNumber !== undefined && { phoneNumber }),
    ...(displayName !== undefined && { displayName }),
    ...(withheld && { withheld }),
  };
}
