import process from "node:process";
import { PHONE_NUMBER } from "../../../src/domain/numbers/phone-number.ts";
import type { Trunk } from "../../telephony/sip/config/trunk-config.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { settingsOf } from "../settings/all-settings.ts";
import { readSettings } from "../settings/read-settings.ts";
import { markedLine } from "../terminal/marked-line.ts";
import { paint, print, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";

const SETTINGS = settingsOf("embedded.sip.trunks");
const MARKS = { works: "works", skipped: "missing", broken: "broken" } as const;

/** `ringport sip check`: tries SIP trunks step by step, and prints a fix for each step that fails. */
export const sipCheck: CommandSpec = {
  summary: "Tries the SIP trunks step by step: DNS, connection, OPTIONS, registration, codecs, a call.",
  details:
    "Needs no server. Calls no one without --call. Exit code: 0 if every trunk works, 1 otherwise. ✓ works, – not tried, ✗ must be fixed.",
  options: [
    { name: "trunk", placeholder: "NAME", help: "Only this trunk, or the trunks of this route. Default: all." },
    {
      name: "trunks",
      placeholder: "FILE",
      help: "The trunks as JSON, in place of RINGPORT_SIP_TRUNKS.",
      completion: "file",
    },
    {
      name: "call",
      placeholder: "NUMBER",
      help: "Calls this number (E.164) for three seconds, and reports the audio in both directions.",
    },
    jsonOption("`ok` and `trunks`: `name`, `ok`, `steps` (`name`, `state` (works, skipped, broken), `detail`, `fix`)"),
  ],
  settings: SETTINGS,
  async run(line) {
    const json = line.values.get("json") === true;
    const call = numberOf(line);
    const trunks = await trunksOf(line);
    const { checkTrunk } = await import("../../telephony/sip/check/check-trunk.ts");
    const interrupted = interruption();
    const results = [];
    for (const trunk of trunks) {
      if (!json) print(paint(1, `sip/${trunk.name}`));
      const steps = [];
      for await (const step of checkTrunk(trunk, { call, signal: interrupted.signal })) {
        steps.push(step);
        if (!json) print(markedLine({ ...step, state: MARKS[step.state] }));
      }
      if (interrupted.signal.aborted) return interrupted.exitCode();
      results.push({ name: trunk.name, ok: steps.every(({ state }) => state !== "broken"), steps });
    }
    const ok = results.every((trunk) => trunk.ok);
    if (json) printJson({ ok, trunks: results });
    else print(ok ? `\n${paint(32, "All checks passed.")}` : `\n${paint(31, "Fix the ✗ lines first.")}`);
    return ok ? EXIT.done : EXIT.failed;
  },
};

function numberOf(line: ParsedLine): string | undefined {
  const number = line.values.get("call") as string | undefined;
  if (number === undefined || PHONE_NUMBER.test(number)) return number;
  throw new UsageError(`--call is "${number}": it must be an E.164 number: + and 7 to 15 digits, such as +12025550100`);
}

/** @throws {UsageError} no trunks are configured, or none has that name */
async function trunksOf(line: ParsedLine): Promise<readonly Trunk[]> {
  const file = line.values.get("trunks") as string | undefined;
  const source = file ?? readSettings(SETTINGS, line, process.env).options.embedded?.sip?.trunks;
  if (source === undefined)
    throw new UsageError("no trunk to check: set RINGPORT_SIP_TRUNKS, or name a file with --trunks FILE");
  const { sipTrunks } = await import("../../defaults/sip-trunks.ts");
  const { trunks, routes } = await sipTrunks({ trunks: source });
  const name = (line.values.get("trunk") as string | undefined)?.replace(/^sip\//, "");
  const route = routes.find((candidate) => candidate.name === name);
  const trunkNames = route?.trunks.map(({ trunk }) => trunk) ?? [name];
  const matches = name === undefined ? trunks : trunks.filter((trunk) => trunkNames.includes(trunk.name));
  if (matches.length > 0) return matches;
  const names = [...routes, ...trunks].map((entry) => entry.name).join(", ");
  throw new UsageError(`unknown trunk "${name ?? ""}"; known: ${names || "none"}`);
}
