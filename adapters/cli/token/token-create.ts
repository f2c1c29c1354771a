import process from "node:process";
import { issueToken, type NewToken } from "../../../src/application/tokens/tokens.ts";
import { idSource, isId } from "../../../src/base/ids.ts";
import { isVisible } from "../../../src/domain/input/visible-text.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { STORAGE_SETTINGS } from "../settings/all-settings.ts";
import { callsPerDay, type Parser, phonePrefixes, tokenScopes, wholeNumber } from "../settings/parsers.ts";
import { readSettings } from "../settings/read-settings.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { withStorage } from "./storage-work.ts";
import { tokenView } from "./token-view.ts";

const DAY_MS = 86_400_000;
const DAYS = wholeNumber(1, 36_500);
/** Maximum length of user and token names, characters. */
const NAME_LENGTH = 120;

/** `ringport token create`: creates a token and prints only the token. */
export const tokenCreate: CommandSpec = {
  summary: "Creates a token, and its user if new.",
  details: "Prints only the token, for scripts: TOKEN=$(ringport token create --user ana)",
  options: [
    { name: "user", placeholder: "NAME", help: "User of the token; required." },
    { name: "name", placeholder: "LABEL", help: 'Label of the token. Default: "cli".' },
    { name: "demo-instance", placeholder: "ID", help: "Creates a demo token, which may use only this instance." },
    {
      name: "allow",
      placeholder: "PREFIXES",
      help: "Prefixes it may call, such as +49,+43,+1415. Default: every number.",
    },
    {
      name: "max-calls-per-day",
      placeholder: "NUMBER",
      help: "Maximum number of calls within 24 hours. Default: unlimited, 50 for a demo token.",
    },
    {
      name: "scopes",
      placeholder: "SCOPES",
      help: "Scopes, separated by commas: read, call, admin. Default: everything.",
    },
    { name: "expires-in", placeholder: "DAYS", help: "Days until it expires. Default: never." },
    jsonOption("the token and its stored record"),
  ],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const request = newToken(line);
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const mustExist = request.demoInstanceId !== undefined;
    const token = await withStorage(options, { mustExist }, async (storage) => {
      if (request.demoInstanceId !== undefined) await checkInstance(storage, request.userName, request.demoInstanceId);
      const ids = idSource(realSystem.now, realSystem.random);
      return issueToken(storage.accounts, realSystem, ids, request);
    });
    if (line.values.get("json")) {
      printJson({ token: token.token, ...tokenView(token, request.userName) });
      return 0;
    }
    print(token.token);
    printToStderr(`Token ${token.id} of user "${request.userName}". It is shown only once.`);
    return 0;
  },
};

function newToken({ values }: ParsedLine): NewToken {
  const user = values.get("user");
  if (user === undefined) throw new UsageError("token create needs a user: ringport token create --user NAME");
  const label = values.get("name") ?? "cli";
  const demoInstanceId = values.get("demo-instance") as string | undefined;
  if (demoInstanceId !== undefined && !isId("inst", demoInstanceId))
    throw new UsageError(
      `--demo-instance is "${demoInstanceId}": it must be an instance's id, inst_ and 26 characters`,
    );
  const expiresIn = parsedOption(values, "expires-in", DAYS);
  return {
    userName: checkedName("--user", String(user)),
    label: checkedName("--name", String(label)),
    demoInstanceId,
    allowedPrefixes: parsedOption(values, "allow", phonePrefixes),
    maxCallsPerDay: parsedOption(values, "max-calls-per-day", callsPerDay),
    scopes: parsedOption(values, "scopes", tokenScopes),
    expiresAt: expiresIn === undefined ? undefined : Date.now() + expiresIn * DAY_MS,
  };
}

function parsedOption<T>(values: ParsedLine["values"], name: string, parser: Parser<T>): T | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  const value = parser.parse(String(text));
  if (value === undefined) throw new UsageError(`--${name} is ${JSON.stringify(text)}: it must be ${parser.expected}`);
  return value;
}

function checkedName(flag: string, text: string): string {
  const name = text.trim();
  if (isVisible(name) && name.length <= NAME_LENGTH && !/\p{Cc}/u.test(name)) return name;
  throw new UsageError(
    `${flag} is ${JSON.stringify(text.slice(0, 60))}: it must be a name of 1 to ${NAME_LENGTH} characters, at least one of them visible`,
  );
}

async function checkInstance(storage: Storage, userName: string, instanceId: string): Promise<void> {
  const instance = await storage.instances.get(instanceId);
  if (!instance || instance.status === "DELETED")
    throw new UsageError(`--demo-instance is "${instanceId}": there is no such instance; GET /v1/instances lists them`);
  const user = await storage.accounts.userByName(userName);
  if (user?.id !== instance.userId)
    throw new UsageError(
      `instance "${instanceId}" does not belong to the user "${userName}"; name its owner with --user`,
    );
}
