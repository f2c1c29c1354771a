import type { Client } from "../../src/client/index.ts";
import type { CommandSpec, Completion, OptionSpec, ParsedLine } from "./command.ts";
import { connect } from "./connection/connection.ts";
import { CONNECTION_SETTINGS } from "./connection/connection-settings.ts";
import { jsonOption } from "./json-option.ts";
import { printJson } from "./terminal/terminal.ts";

/** A command that takes the id of one record, sends a request to the server and prints the result. */
interface RecordCommand<Result> {
  readonly record: Completion;
  readonly summary: string;
  readonly options?: readonly OptionSpec[];
  /** Name of the data that `--json` prints. */
  readonly json: string;
  request(client: Client, id: string, line: ParsedLine): Promise<Result>;
  /** Prints the result as text. */
  show(result: Result, id: string): void;
}

/** The specification of a command about one record. */
export function recordCommand<Result>({
  record,
  summary,
  options = [],
  json,
  request,
  show,
}: RecordCommand<Result>): CommandSpec {
  return {
    summary,
    operands: [{ name: "ID", completion: record }],
    options: [...options, jsonOption(json)],
    settings: CONNECTION_SETTINGS,
    async run(line) {
      const [id = ""] = line.operands;
      const { client } = await connect(line);
      const result = await request(client, id, line);
      if (line.values.get("json")) printJson(result);
      else show(result, id);
      return 0;
    },
  };
}
