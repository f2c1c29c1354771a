import process from "node:process";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { tokenOf, urlOf } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { SETTINGS } from "../settings/all-settings.ts";
import { readSettings, type ServerSettings, unknownVariables } from "../settings/read-settings.ts";
import { markedLine } from "../terminal/marked-line.ts";
import { paint, print, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { broken, type Finding, missing, works } from "./finding.ts";
import { findPlayers, findRuntime, findSqlite } from "./machine-findings.ts";

/** `ringport doctor`: checks what works on this machine, and suggests fixes for the rest. */
export const doctor: CommandSpec = {
  summary: "Checks what works on this machine, and how to fix the rest.",
  details:
    "Read-only: creates nothing and calls no one. Exit code: 0 if calls can be placed here, 1 otherwise. ✓ works, – optional, ✗ must be fixed.",
  options: [jsonOption("`ok` and `findings`: `name`, `state` (works, missing, broken), `detail`, `fix`, `essential`")],
  settings: [...SETTINGS, ...CONNECTION_SETTINGS],
  async run(line) {
    const json = line.values.get("json") === true;
    const { settings, finding } = settingsFinding(line);
    // Imported here, so that other commands do not load the code of the speech engines and the storage.
    const { findNetworks } = await import("./network-findings.ts");
    const { findPort, findServer } = await import("./server-findings.ts");
    const { findSpeech } = await import("./speech-findings.ts");
    const { findTranscription } = await import("./speech-findings.ts");
    const { findAgent } = await import("./agent-findings.ts");
    const { findTools } = await import("./agent-findings.ts");
    const { findWhatsApp } = await import("./network-findings.ts");
    const { findDatabase, findDataFolder } = await import("./storage-findings.ts");
    // All checks run concurrently; their findings are printed in this order.
    const checks: Promise<readonly Finding[]>[] = [
      Promise.resolve([findRuntime(), finding]),
      settings.options.databaseUrl === undefined ? findSqlite() : findDatabase(settings.options.databaseUrl),
      findDataFolder(settings.options.data),
      findNetworks(settings.options),
      Promise.resolve(findWhatsApp(process.cwd())),
      findSpeech(settings.options),
      findTranscription(settings.options),
      findAgent(settings.options.embedded?.agent),
      findTools(settings.options.embedded?.httpTools),
      Promise.resolve([findPlayers()]),
      findPort(settings),
      findServer(urlOf(line), tokenOf(line)),
    ];
    for (const check of checks) check.catch(() => {}); // handled below, when it is awaited
    const findings: Finding[] = [];
    for (const check of checks)
      for (const finding of await check) {
        findings.push(finding);
        if (!json) print(markedLine(finding));
      }
    const ok = canPlaceCalls(findings);
    if (json) printJson({ ok, findings });
    else print(`\n${verdict(findings)}`);
    return ok ? EXIT.done : EXIT.failed;
  },
};

function canPlaceCalls(findings: readonly Finding[]): boolean {
  return findings.every(({ state, essential }) => state !== "broken" || !essential);
}

/** The human-readable last line. */
export function verdict(findings: readonly Finding[]): string {
  if (!canPlaceCalls(findings)) return paint(31, "Fix the ✗ lines first.");
  return findings.some(({ state }) => state === "broken")
    ? paint(33, "Calls can be placed, but without the parts marked ✗.")
    : paint(32, "All checks passed: calls can be placed.");
}

/** Reads the settings as the server would; if one is invalid, the others cannot be trusted either. */
function settingsFinding(line: ParsedLine): { settings: ServerSettings; finding: Finding } {
  try {
    const settings = readSettings(SETTINGS, line, process.env);
    const [unknownVariable] = unknownVariables(process.env);
    if (!unknownVariable) return { settings, finding: works("settings", "can be read") };
    const detail = `unknown setting ${unknownVariable.name}${unknownVariable.fix ? `; ${unknownVariable.fix}` : ""}`;
    return { settings, finding: missing("settings", detail, "ringport serve --help lists them") };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {
      settings: readSettings([], line, {}),
      finding: broken("settings", error.message, "ringport serve --help lists them"),
    };
  }
}
