import { readFile } from "node:fs/promises";
import type { SipTuning } from "../../src/options.ts";
import type { Route } from "../telephony/sip/config/route.ts";
import type { Trunk } from "../telephony/sip/config/trunk.ts";

const NAME = "the SIP trunks (RINGPORT_SIP_TRUNKS)";

/** Trunks, and routes over them. */
export interface SipWays {
  readonly trunks: readonly Trunk[];
  readonly routes: readonly Route[];
}

/**
 * The trunks that the options name, and the routes over them: as they are, as JSON text, or in a file with it.
 * @throws {Error} one line that names every fault of every trunk and route, and never a secret
 */
export async function sipTrunks({ trunks: given = [], routes: more }: SipTuning): Promise<SipWays> {
  const { faultText, parseTrunks } = await import("../telephony/sip/config/parse-trunks.ts");
  const read = typeof given === "string" ? await fromText(given) : given;
  const { trunks, routes, faults } = parseTrunks(more === undefined ? read : withRoutes(read, more));
  if (trunks) return { trunks, routes };
  throw new Error(`${NAME} cannot be used: ${faults.map(faultText).join("; ")}`);
}

/** Routes of the options take the place of those that stand beside the trunks. */
function withRoutes(read: unknown, routes: unknown): unknown {
  return Array.isArray(read) ? { trunks: read, routes } : { ...(read as object), routes };
}

async function fromText(given: string): Promise<unknown> {
  const text = given.trim();
  if (/^[[{]/.test(text)) return parsed(text, NAME);
  return parsed(await contentOf(text), `the file ${text} with ${NAME}`);
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new Error(`${NAME}: the file ${path} cannot be read (${code}); it takes JSON as well: [{"name":…}]`, {
      cause,
    });
  }
}

/** The parser's message may quote the text, which holds passwords; only the position is reported. */
function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    const [, at] = /position (\d+)/.exec(String(fault)) ?? [];
    const before = at === undefined ? undefined : text.slice(0, Number(at)).split("\n");
    const place = before ? ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}` : "";
    throw new Error(
      `${what} are no JSON${place}; they must be a list such as [{"name":"acme","server":"sip:sip.acme.example"}]`,
    );
  }
}
