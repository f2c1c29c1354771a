import { parseArgs } from "node:util";
import { didYouMean } from "../../src/base/nearest.ts";
import { type Command, operandLabel, type ParsedLine } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Parses the words after a command's name.
 * @throws {UsageError} an option is unknown, or there are too many or too few values
 */
export function parseCommandLine(command: Command, args: readonly string[]): ParsedLine {
  const switches = new Map<string, boolean>();
  for (const { name, placeholder } of command.options) switches.set(name, placeholder === undefined);
  for (const { flag, parser } of command.settings)
    if (flag !== undefined) switches.set(flag, parser.placeholder === undefined);
  switches.set("help", true);

  const options = Object.fromEntries(
    [...switches].map(([name, isSwitch]) => {
      const short = command.options.find((option) => option.name === name)?.short;
      return [name, { type: isSwitch ? "boolean" : "string", ...(short !== undefined && { short }) } as const];
    }),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...options, help: { type: "boolean", short: "h" } },
    strict: false,
    tokens: true,
    allowPositionals: true,
  });

  const values = new Map<string, string | boolean>();
  const operands: string[] = [];
  const commandName = command.path.join(" ");
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const optionName = rawName.startsWith("--no-") && !switches.has(name) ? name.replace(/^no-/, "") : name;
    const isSwitch = switches.get(optionName);
    if (isSwitch === undefined || (optionName !== name && !isSwitch)) {
      const flags = [...switches.keys()].map((flag) => `--${flag}`);
      throw new UsageError(
        `unknown option ${rawName} for ${commandName}${didYouMean(rawName, flags)}; see: ringport ${commandName} --help`,
      );
    }
    if (isSwitch && value !== undefined) throw new UsageError(`${rawName} takes no value: leave out "${value}"`);
    if (!isSwitch && (value === undefined || (!inlineValue && value.startsWith("-"))))
      throw new UsageError(
        `${rawName} needs a value; write it as ${rawName.startsWith("--") ? rawName : `--${name}`}=VALUE`,
      );
    values.set(optionName, isSwitch ? optionName === name : (value as string));
  }
  if (values.get("help") === true) return { values, operands };
  checkOperands(command, operands);
  for (const { name, values: allowedValues } of command.options) {
    const value = values.get(name);
    if (allowedValues && typeof value === "string") values.set(name, allowedWord(`--${name}`, allowedValues, value));
  }
  const checkedOperands = operands.map((operand, i) => {
    const { name, values: allowedValues } = command.operands?.[i] ?? command.operands?.at(-1) ?? {};
    return allowedValues && name ? allowedWord(name, allowedValues, operand) : operand;
  });
  return { values, operands: checkedOperands };
}

function checkOperands({ path, operands: specs = [] }: Command, words: readonly string[]): void {
  const commandName = path.join(" ");
  if (words.length > specs.length && !specs.at(-1)?.isRepeatable)
    throw new UsageError(
      `${commandName} takes no argument "${words[specs.length]}"; see: ringport ${commandName} --help`,
    );
  const missingOperand = specs[words.length];
  if (missingOperand && !missingOperand.optional)
    throw new UsageError(
      `${commandName} needs ${missingOperand.name}: ringport ${commandName} ${specs.map(operandLabel).join(" ")}`,
    );
}

/** The word as it is spelled in the table. */
function allowedWord(name: string, values: readonly string[], word: string): string {
  const match = values.find((value) => value.toLowerCase() === word.toLowerCase());
  if (match !== undefined) return match;
  throw new UsageError(
    `${name} is "${word}"${didYouMean(word, values)}: it must be ${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  );
}
