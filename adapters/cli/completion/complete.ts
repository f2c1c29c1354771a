import process from "node:process";
import { commandOf, commandsBelow, loadAll } from "../all-commands.ts";
import type { Command, Completion, OperandSpec, OptionSpec } from "../command.ts";
import { TOKEN_SETTING, URL_SETTING } from "../connection/connection-settings.ts";
import { print } from "../terminal/terminal.ts";

type LiveCompletion = Exclude<Completion, "file">;

/** Asks the shell to complete file names. */
const FILES = ":files";

/** Prints the candidates for the last word, one per line, each followed by a tab and its description. */
export async function complete(typedWords: readonly string[]): Promise<number> {
  for (const candidate of await candidates(joinedValues(typedWords))) print(candidate);
  return 0;
}

/** Rejoins each `--name=value`, which bash splits into three words. */
function joinedValues(typedWords: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of typedWords) {
    const before = words.at(-1);
    if (before?.startsWith("--") && word === "=") words[words.length - 1] = `${before}=`;
    else if (before?.startsWith("--") && before.endsWith("=") && before !== "--")
      words[words.length - 1] = before + word;
    else words.push(word);
  }
  return words;
}

async function candidates(words: readonly string[]): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const names = before.slice(0, before.findIndex((word) => word.startsWith("-")) >>> 0);
  const command = await commandOf(names)?.load();
  const groups = await loadAll(commandsBelow(names).filter(({ path }) => names.length < path.length));
  const next = withoutDuplicates(
    groups.map(({ path, summary }) =>
      withDescription(path[names.length] ?? "", path.length === names.length + 1 ? summary : ""),
    ),
  );
  if (!command) return withPrefix(next, last);

  const pendingOption = optionAwaitingValue(command, before.at(-1) ?? "");
  if (pendingOption) return valuesOf(pendingOption, last, words);
  const [, flag, value] = /^--([^=]+)=(.*)$/s.exec(last) ?? [];
  const inlineOption = flag === undefined ? undefined : optionsOf(command).find(({ name }) => name === flag);
  // The name and the = are already on the line; the shell expects only the value.
  if (inlineOption && value !== undefined) return valuesOf(inlineOption, value, words);
  if (last.startsWith("-"))
    return withPrefix(
      optionsOf(command).map(({ name, help }) => withDescription(`--${name}`, help)),
      last,
    );
  const lastOperand = command.operands?.at(-1);
  const repeatedOperand = lastOperand?.isRepeatable ? lastOperand : undefined;
  const operand = command.operands?.[operandCount(command, before)] ?? repeatedOperand;
  return [...withPrefix(next, last), ...(operand ? await valuesOf(operand, last, words) : [])];
}

async function valuesOf(word: OptionSpec | OperandSpec, prefix: string, words: readonly string[]): Promise<string[]> {
  const { values, completion } = word;
  if (values) return withPrefix(values, prefix, true);
  if (completion === undefined) return [];
  const isFile = completion === "file" || (completion === "model" && typedValue(words, "--from") !== undefined);
  if (isFile) return [FILES];
  return withPrefix(await liveWords(completion as LiveCompletion, words), prefix);
}

/** All options of a command, settings included. */
function optionsOf({ options, settings }: Command): OptionSpec[] {
  const flags = settings.flatMap(({ flag: name, parser, help }): OptionSpec[] =>
    name === undefined ? [] : [{ name, help, placeholder: parser.placeholder, values: parser.words }],
  );
  return [...options, ...flags, { name: "help", help: "Shows help." }];
}

function optionAwaitingValue(command: Command, word: string): OptionSpec | undefined {
  return optionsOf(command).find(({ name, placeholder }) => word === `--${name}` && placeholder !== undefined);
}

function operandCount(command: Command, before: readonly string[]): number {
  const operands = before.slice(command.path.length);
  return operands.filter((word, i) => !word.startsWith("-") && !optionAwaitingValue(command, operands[i - 1] ?? ""))
    .length;
}

function withDescription(word: string, description: string): string {
  return description === "" ? word : `${word}\t${description}`;
}

function withoutDuplicates(words: readonly string[]): string[] {
  const wordsByName = new Map<string, string>();
  for (const word of words) {
    const name = word.replace(/\t.*$/s, "");
    if (!wordsByName.has(name)) wordsByName.set(name, word);
  }
  return [...wordsByName.values()];
}

function withPrefix(words: readonly string[], text: string, ignoreCase = false): string[] {
  const prefix = ignoreCase ? text.toLowerCase() : text;
  return words.filter((word) => (ignoreCase ? word.toLowerCase() : word).startsWith(prefix));
}

/** Timeout for a completion request, ms. */
const TIMEOUT_MS = 1_500;
const MAX_CALLS = 50;

/** Ids from the server, each followed by a tab and its description; none if the server does not respond. */
async function liveWords(kind: LiveCompletion, typedWords: readonly string[]): Promise<string[]> {
  if (kind === "model" || kind === "installed-model") return modelWords(kind, typedWords);
  const url = typedValue(typedWords, "--url") ?? process.env[URL_SETTING.env] ?? URL_SETTING.fallback;
  const token = typedValue(typedWords, "--token") ?? process.env[TOKEN_SETTING.env];
  if (!token) return [];
  try {
    const { createClient } = await import("../../../src/client/index.ts");
    const client = createClient({ url, token, retries: 0, timeoutMs: TIMEOUT_MS });
    if (kind === "voice") return (await client.voices()).map(({ id, engine, name }) => `${id}\t${engine} ${name}`);
    if (kind === "instance") {
      const { items } = await client.instances.page();
      return items.map(({ id, name, status }) => `${id}\t${name}, ${status}`);
    }
    if (kind === "batch") {
      const batches = await Array.fromAsync(client.batches.list());
      return batches.map(({ id, name, status }) => `${id}\t${name}, ${status}`);
    }
    if (kind === "audio") {
      const { items } = await client.audio.page();
      return items.map(({ id, name }) => `${id}\t${name ?? ""}`);
    }
    const { items } = await client.calls.page({ limit: MAX_CALLS });
    return items.map(({ id, target_phone, status }) => `${id}\t${target_phone}, ${status}`);
  } catch {
    return [];
  }
}

/** Languages and names of known models, or the models in the model folder. */
async function modelWords(kind: "model" | "installed-model", typedWords: readonly string[]): Promise<string[]> {
  if (kind === "model") {
    const { knownWords } = await import("../models/chosen-models.ts");
    return knownWords().map(([word, description]) => withDescription(word, description));
  }
  const { modelPlace } = await import("../models/model-place.ts");
  const values = new Map(
    ["data", "speech-models"].flatMap((flag) => {
      const value = typedValue(typedWords, `--${flag}`);
      return value === undefined ? [] : [[flag, value] as const];
    }),
  );
  const { readModelFolder } = await import("../../local-models/model-folder.ts");
  try {
    const { voices, recognisers, faults } = await readModelFolder(modelPlace({ values, operands: [] }).folder);
    return [...voices, ...recognisers, ...faults].map(({ name }) => name);
  } catch {
    return [];
  }
}

function typedValue(typedWords: readonly string[], flag: string): string | undefined {
  const index = typedWords.indexOf(flag);
  if (index >= 0) return typedWords[index + 1];
  return typedWords.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}
