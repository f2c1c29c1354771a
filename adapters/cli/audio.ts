import type { AudioFile } from "../../src/client/index.ts";
import { durationMs } from "./batch/batch-times.ts";
import { readAudioFile } from "./call/call-type-options.ts";
import type { CommandSpec } from "./command.ts";
import { connect } from "./connection/connection.ts";
import { CONNECTION_SETTINGS } from "./connection/connection-settings.ts";
import { jsonOption } from "./json-option.ts";
import { recordCommand } from "./record-command.ts";
import { type ListColumn, printList } from "./terminal/table.ts";
import { print, printJson, printToStderr } from "./terminal/terminal.ts";

/** `ringport audio add`: stores an audio file. */
export const audioAdd: CommandSpec = {
  summary: "Stores an MP3 or WAV file once, for `ringport call --audio-id` and batches; prints its id.",
  operands: [{ name: "FILE", completion: "file" }],
  options: [
    { name: "name", placeholder: "NAME", help: "Your own name for the file. Default: its file name." },
    {
      name: "expires-in",
      placeholder: "DURATION",
      help: "Time until it expires: 90s, 15m, 2h or 30d. Default: it is kept until it is deleted.",
    },
    jsonOption("the file"),
  ],
  settings: CONNECTION_SETTINGS,
  async run({ operands: [path = ""], ...line }) {
    const { values } = line;
    const life = values.get("expires-in") as string | undefined;
    const expiresInMs = life === undefined ? undefined : durationMs("--expires-in", life);
    const name = (values.get("name") as string | undefined) ?? path.replace(/^.*[\\/]/, "");
    const bytes = await readAudioFile("FILE", path);
    const { client } = await connect({ operands: [path], ...line });
    const file = await client.audio.create({ file: bytes, name, expiresInMs });
    if (values.get("json")) printJson(file);
    else print(file.id);
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "NAME", cut: true },
  { head: "SECONDS" },
  { head: "BYTES", dropOrder: 2 },
  { head: "EXPIRES", dropOrder: 1 },
];

/** `ringport audio list`: the stored audio files. */
export const audioList: CommandSpec = {
  summary: "Lists stored audio files, newest first.",
  options: [jsonOption("the files")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const { client } = await connect(line);
    const files = await Array.fromAsync(client.audio.list());
    const none = "No audio file is stored; store one: ringport audio add FILE";
    printList(line, files, { none, columns: COLUMNS, cells });
    return 0;
  },
};

function cells({ id, name, duration_ms, bytes, expires_at }: AudioFile): string[] {
  return [id, name ?? "", (duration_ms / 1_000).toFixed(1), String(bytes), expires_at?.slice(0, 19) ?? "never"];
}

/** `ringport audio delete`: deletes a stored audio file. */
export const audioDelete: CommandSpec = recordCommand({
  record: "audio",
  summary: "Deletes a stored audio file. Calls and batches that were accepted with it still play it.",
  json: "`id` and `deleted`",
  async request(client, id) {
    await client.audio.delete(id);
    return { id, deleted: true };
  },
  show: (_, id) => printToStderr(`The audio file ${id} is deleted.`),
});
