import process from "node:process";
import { type Erasure, erasePhone } from "../../src/application/calls/deletion/erasure.ts";
import { PurgeClock } from "../../src/application/calls/deletion/purge-clock.ts";
import { checkedPhone } from "../../src/domain/numbers/phone-number.ts";
import { silentLogger } from "../../src/ports/logger.ts";
import { realSystem } from "../../src/ports/system.ts";
import type { CommandSpec } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { jsonOption } from "./json-option.ts";
import { maskNumbers } from "./serve/mask-numbers.ts";
import { STORAGE_SETTINGS } from "./settings/all-settings.ts";
import { readSettings } from "./settings/read-settings.ts";
import { printFacts } from "./terminal/facts.ts";
import { printJson, printToStderr } from "./terminal/terminal.ts";
import { withStorage } from "./token/storage-work.ts";
import { UsageError } from "./usage-error.ts";

/** `ringport erase`: deletes one person's data at their request. */
export const erase: CommandSpec = {
  summary: "Deletes all data about calls to a phone number.",
  details:
    "Calls to the number, and calls that mention it, such as those that an agent transferred there, with their " +
    "events, transcripts and recordings, hashes of idempotent requests, and records of linked devices, of all " +
    "users, and the same for any other form of the number that reaches the same phone (Brazil, Mexico, " +
    "Argentina). Works directly on a server's data, even while it runs, and compacts the database afterwards. It " +
    "cannot end calls: hang up active ones first. Exit code 0: everything was deleted. 1: such a call is active, " +
    "or an instance is linked to the number.",
  options: [
    { name: "phone", placeholder: "NUMBER", help: "The person's number, such as +12025550100; required." },
    jsonOption("what was deleted and what still names the number"),
  ],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const number = line.values.get("phone");
    if (number === undefined) throw new UsageError("erase needs a phone number: ringport erase --phone +12025550100");
    const phone = checkedPhone(number, "--phone");
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const { embeddedRemovalContext: embeddedKeepers } = await import("../defaults.ts");
    const erasure = await withStorage(options, { mustExist: true }, async (storage) => {
      const purgeClock = new PurgeClock(realSystem, storage, silentLogger);
      await purgeClock.start();
      return erasePhone({ ...(await embeddedKeepers(options, storage)), purgeClock }, phone);
    });
    if (line.values.get("json")) printJson(viewOf(erasure, phone));
    else show(erasure, phone);
    return erasure.activeCalls.length + erasure.instances.length === 0 ? EXIT.done : EXIT.failed;
  },
};

function viewOf(erasure: Erasure, phone: string): object {
  const { calls, events, transcriptLines, recordings, receipts, lineRecords, targets, activeCalls, instances } =
    erasure;
  return {
    phone: maskNumbers(phone),
    calls,
    events,
    transcript_lines: transcriptLines,
    recordings,
    receipts,
    line_records: lineRecords,
    targets,
    active_calls: activeCalls,
    instances,
  };
}

function show(erasure: Erasure, phone: string): void {
  printFacts([
    ["number", maskNumbers(phone)],
    ["calls", `${erasure.calls} deleted`],
    ["events", `${erasure.events} deleted`],
    ["transcript lines", `${erasure.transcriptLines} deleted`],
    ["recordings", `${erasure.recordings} deleted`],
    ["idempotent requests", `${erasure.receipts} hashes deleted`],
    ["records of lines", `${erasure.lineRecords} deleted`],
    ["targets of batches", `${erasure.targets} deleted`],
  ]);
  for (const id of erasure.activeCalls)
    printToStderr(`Call ${id} is still active: run ringport calls hangup ${id}, then erase the number again.`);
  for (const id of erasure.instances)
    printToStderr(
      `Instance ${id} is linked to this number: run ringport instance delete ${id}, then erase the number again.`,
    );
}
