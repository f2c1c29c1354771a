import type { Command, CommandSpec } from "./command.ts";

/** A command and its name. Its file is loaded when the command is run or shown in the help. */
export interface CommandEntry {
  readonly path: readonly string[];
  load(): Promise<Command>;
}

/** All commands, in help order: parsing, help and completion use this table. */
export const COMMANDS: readonly CommandEntry[] = [
  entry("serve", async () => (await import("./serve/serve.ts")).serveCommand),
  entry("demo", async () => (await import("./demo/demo.ts")).demo),
  entry("doctor", async () => (await import("./doctor/doctor.ts")).doctor),
  entry("bench", async () => (await import("./bench/bench.ts")).bench),
  entry("instance create", async () => (await import("./instance/instance.ts")).instanceCreate),
  entry("instance list", async () => (await import("./instance/instance.ts")).instanceList),
  entry("instance show", async () => (await import("./instance/instance.ts")).instanceShow),
  entry("instance qr", async () => (await import("./instance/link-commands.ts")).instanceQr),
  entry("instance link", async () => (await import("./instance/link-commands.ts")).instanceLink),
  entry("instance pair", async () => (await import("./instance/link-commands.ts")).instancePair),
  entry("instance update", async () => (await import("./instance/instance.ts")).instanceUpdate),
  entry("instance unlink", async () => (await import("./instance/link-commands.ts")).instanceUnlink),
  entry("instance delete", async () => (await import("./instance/instance.ts")).instanceDelete),
  entry("call", async () => (await import("./call/call.ts")).call),
  entry("calls", async () => (await import("./call/calls.ts")).calls),
  entry("calls show", async () => (await import("./call/calls.ts")).callsShow),
  entry("calls hangup", async () => (await import("./call/calls.ts")).callsHangup),
  entry("calls recording", async () => (await import("./call/calls.ts")).callsRecording),
  entry("batch create", async () => (await import("./batch/batch-create.ts")).batchCreate),
  entry("batch list", async () => (await import("./batch/batch.ts")).batchList),
  entry("batch show", async () => (await import("./batch/batch.ts")).batchShow),
  entry("batch plan", async () => (await import("./batch/batch.ts")).batchPlan),
  entry("batch start", async () => (await import("./batch/batch.ts")).batchStart),
  entry("batch watch", async () => (await import("./batch/batch-watch.ts")).batchWatch),
  entry("batch pause", async () => (await import("./batch/batch.ts")).batchPause),
  entry("batch resume", async () => (await import("./batch/batch.ts")).batchResume),
  entry("batch cancel", async () => (await import("./batch/batch.ts")).batchCancel),
  entry("batch results", async () => (await import("./batch/batch-results.ts")).batchResults),
  entry("batch errors", async () => (await import("./batch/batch-results.ts")).batchErrors),
  entry("batch delete", async () => (await import("./batch/batch.ts")).batchDelete),
  entry("audio add", async () => (await import("./audio.ts")).audioAdd),
  entry("audio list", async () => (await import("./audio.ts")).audioList),
  entry("audio delete", async () => (await import("./audio.ts")).audioDelete),
  entry("consent set", async () => (await import("./consent.ts")).consentSet),
  entry("consent get", async () => (await import("./consent.ts")).consentGet),
  entry("consent list", async () => (await import("./consent.ts")).consentList),
  entry("consent delete", async () => (await import("./consent.ts")).consentDelete),
  entry("listen", async () => (await import("./webhooks/listen.ts")).listenCommand),
  entry("voices", async () => (await import("./voices/voices.ts")).voices),
  entry("models", async () => (await import("./models/models.ts")).models),
  entry("models list", async () => (await import("./models/models.ts")).modelsList),
  entry("models add", async () => (await import("./models/models-add.ts")).modelsAdd),
  entry("models remove", async () => (await import("./models/models.ts")).modelsRemove),
  entry("sip check", async () => (await import("./sip/sip-check.ts")).sipCheck),
  entry("token create", async () => (await import("./token/token-create.ts")).tokenCreate),
  entry("token list", async () => (await import("./token/token-list.ts")).tokenList),
  entry("token revoke", async () => (await import("./token/token-revoke.ts")).tokenRevoke),
  entry("account code", async () => (await import("./account.ts")).accountCode),
  entry("account list", async () => (await import("./account.ts")).accountList),
  entry("account reset", async () => (await import("./account.ts")).accountReset),
  entry("backup", async () => (await import("./backup.ts")).backup),
  entry("erase", async () => (await import("./erase.ts")).erase),
  entry("completion", async () => (await import("./completion/completion.ts")).completion),
];

function entry(name: string, load: () => Promise<CommandSpec>): CommandEntry {
  const path = name.split(" ");
  return { path, load: async () => ({ path, ...(await load()) }) };
}

/** Commands whose names start with these words. */
export function commandsBelow(words: readonly string[]): CommandEntry[] {
  return COMMANDS.filter(({ path }) => words.every((word, i) => path[i] === word));
}

/** The command with the longest name that is a prefix of these words: `calls show` before `calls`. */
export function commandOf(words: readonly string[]): CommandEntry | undefined {
  const matches = COMMANDS.filter(({ path }) => path.every((word, i) => words[i] === word));
  return matches.sort((a, b) => b.path.length - a.path.length)[0];
}

/** Loads commands, in their order. */
export function loadAll(entries: readonly CommandEntry[] = COMMANDS): Promise<Command[]> {
  return Promise.all(entries.map((entry) => entry.load()));
}
