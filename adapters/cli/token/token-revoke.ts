import process from "node:process";
import { isId } from "../../../src/base/ids.ts";
import type { CommandSpec } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { hideTokens } from "../serve/hide-secrets.ts";
import { STORAGE_SETTINGS } from "../settings/all-settings.ts";
import { readSettings } from "../settings/read-settings.ts";
import { printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { withStorage } from "./storage-work.ts";

/** `ringport token revoke`: revokes a token; it is refused from the next request on. */
export const tokenRevoke: CommandSpec = {
  summary: "Revokes a token, from the next request on.",
  operands: [{ name: "ID" }],
  options: [jsonOption("`id` and `revoked`")],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    if (!isId("tok", id))
      throw new UsageError(
        `"${hideTokens(id).slice(0, 60)}" is not a token's id, which is tok_ and 26 characters; see: ringport token list`,
      );
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const revoked = await withStorage(options, { mustExist: true }, ({ accounts }) =>
      accounts.revokeToken(id, Date.now()),
    );
    if (!revoked) throw new UsageError(`there is no valid token "${id}"; see: ringport token list`);
    if (line.values.get("json")) printJson({ id, revoked: true });
    else printToStderr(`Token ${id} is revoked.`);
    return 0;
  },
};
