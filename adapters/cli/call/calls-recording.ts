import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT } from "../exit-codes.ts";
import { print, printBeside } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";

/** `ringport calls recording`: keeps the recording of a call in a file, or deletes it on the server. */
export const callsRecording: CommandSpec = {
  summary: "Downloads the recording of a call as a WAV file: our audio on the left, the callee's on the right.",
  details: "A call is recorded if it was placed with --record. During the call you get the part so far.",
  operands: [{ name: "CALL", completion: "call" }],
  options: [
    {
      name: "output",
      placeholder: "FILE",
      help: "File to write. Default: the call's id with .wav.",
      completion: "file",
    },
    { name: "delete", help: "Deletes the recording on the server instead, permanently." },
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const output = line.values.get("output") as string | undefined;
    const { client } = await connect(line);
    if (line.values.get("delete")) {
      if (output !== undefined) throw new UsageError("--delete writes no file: leave out --output");
      await client.calls.deleteRecording(id);
      printBeside(`The recording of ${id} is deleted.`);
      return EXIT.done;
    }
    const wav = await client.calls.recording(id);
    const file = resolve(output ?? `${id}.wav`);
    await writeFile(file, wav, { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
      throw new UsageError(`${file} cannot be written (${cause.code}); name another file with --output`, { cause });
    });
    print(file);
    return EXIT.done;
  },
};
