import { comparable } from "../../../src/base/comparable.ts";
import { CodedError } from "../../../src/base/error.ts";
import { hasWords } from "../../../src/base/has-words.ts";
import { shown } from "../../../src/base/shown.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../../../src/domain/numbers/phone-number.ts";
import type { Ask, Branch, BranchStep, Script, ScriptStep, Transfer } from "./script.ts";

/** A line that is not a valid script step. The message names the line and the expected form. */
export class ScriptFault extends CodedError {
  override readonly name = "ScriptFault";
  readonly code = "script_fault";
}

/** A question whose branches are being read. */
interface OpenAsk extends Omit<Ask, "branches" | "otherwise" | "noAnswer"> {
  readonly branches: Branch[];
  otherwise: readonly BranchStep[] | undefined;
  noAnswer: readonly BranchStep[] | undefined;
}

/** Text after a colon, or in quotes. */
const SAY = /^say ?(?:: ?(\S.*)|(["“].*))$/i;
const HANG_UP = /^(?:hang up|end the call)\.?$/i;
const TRANSFER = /^transfer\b(?: to)? ?:? ?(.*?)\.?$/i;
const ASK = /^ask\b([^:"“]*)(?:: ?(\S.*)|(["“].*))$/i;
const ASK_OPTIONS = /^ ?([\p{L}_][\p{L}\p{N}_-]*)? ?(?:\bfor (\d{1,3})(?: to (\d{1,3}))? digits?)? ?$/iu;
const IF = /^if\b([^:]*): ?(\S.*)$/i;
const OTHERWISE = /^otherwise ?: ?(\S.*)$/i;
const ASK_AGAIN = /^ask again\.?$/i;
const GO_TO = /^go to ([\p{L}_][\p{L}\p{N}_-]*)\.?$/iu;
const CONTINUE = /^(?:continue|go on)\.?$/i;
/** Words before an answer that are not part of it: "they press 1", "key 1", "the callee says yes". */
const ANSWER_PREFIX = /^(?:they |the callee )?(?:press(?:es)? |says? |keys? )?/i;
/** Maximum length of a number that a question can ask for, digits. */
const MAX_DIGITS = 32;

const STEPS = 'a step begins with "Say:", "Ask:", "If …:", "Otherwise:", "Transfer to" or is "Hang up"';

/**
 * Reads instructions as a script: each line is a step. See docs/agents.md for the rules.
 * @throws {ScriptFault} naming the first line that is not a step
 */
export function parseScript(instructions: readonly string[]): Script {
  const steps: ScriptStep[] = [];
  let ask: OpenAsk | undefined;
  instructions.forEach((instruction, index) => {
    for (const line of instruction.split(/\r\n|[\n\r\u2028\u2029]/)) {
      const text = line.trim().replace(/\s+/gu, " ");
      if (text === "") continue;
      const fault = (reason: string): ScriptFault =>
        new ScriptFault(`instruction ${index + 1} (${shown(text)}) is not part of a script: ${reason}`);
      const branch = branchOf(text, fault);
      if (branch !== undefined) {
        if (ask === undefined) throw fault('"If" and "Otherwise" follow the question ("Ask:") that they belong to');
        addBranch(ask, branch, fault);
        continue;
      }
      const step = stepOf(text, fault);
      ask = step.do === "ask" ? (step as OpenAsk) : undefined;
      if (ask?.name !== undefined && questions(steps).some(({ name }) => name === ask?.name))
        throw fault(`another question is already named ${ask.name}`);
      steps.push(step);
    }
  });
  if (steps.length === 0) throw new ScriptFault(`the instructions have no step: ${STEPS}`);
  checkTargets(steps);
  return { steps };
}

/** The questions of a script. */
export function questions(steps: readonly ScriptStep[]): Ask[] {
  return steps.filter((step): step is Ask => step.do === "ask");
}

type CreateFault = (reason: string) => ScriptFault;
type ParsedBranch = Branch & { readonly kind: "answers" | "otherwise" };

function stepOf(text: string, fault: CreateFault): ScriptStep {
  if (HANG_UP.test(text)) return { do: "hang_up" };
  const transfer = transferOf(text, fault);
  if (transfer) return transfer;
  const say = SAY.exec(text);
  if (say) return { do: "say", text: spokenText(say[1] ?? say[2]!, fault) };
  const ask = ASK.exec(text);
  if (!ask) throw fault(STEPS);
  const [, name, min, max = min] = ASK_OPTIONS.exec(ask[1]!) ?? [];
  if (ask[1]!.trim() !== "" && name === undefined && min === undefined)
    throw fault('a question is "Ask:", "Ask NAME:" or "Ask NAME for 4 digits:", and then its text');
  const digits = min === undefined ? undefined : { min: Number(min), max: Number(max) };
  if (digits && (digits.min < 1 || digits.max < digits.min || digits.max > MAX_DIGITS))
    throw fault(`a question can ask for 1 to ${MAX_DIGITS} digits`);
  const question: OpenAsk = {
    do: "ask",
    name: name?.toLowerCase(),
    text: spokenText(ask[2] ?? ask[3]!, fault),
    digits,
    branches: [],
    otherwise: undefined,
    noAnswer: undefined,
  };
  return question;
}

function branchOf(text: string, fault: CreateFault): ParsedBranch | undefined {
  const otherwise = OTHERWISE.exec(text);
  if (otherwise) return { kind: "otherwise", keys: [], words: [], steps: branchSteps(otherwise[1]!, fault) };
  const branch = IF.exec(text);
  if (!branch) return undefined;
  const keys: string[] = [];
  const words: string[] = [];
  for (const part of branch[1]!.split(/,|\bor\b/i)) {
    const answer = part.trim().replace(ANSWER_PREFIX, "");
    if (/^[0-9*#]+$/.test(answer)) keys.push(answer);
    else if (comparable(answer) !== "") words.push(comparable(answer));
  }
  if (keys.length === 0 && words.length === 0)
    throw fault('"If" is followed by keys or words: "If 1 or yes:", "If nothing:"');
  return { kind: "answers", keys, words, steps: branchSteps(branch[2]!, fault) };
}

function addBranch(ask: OpenAsk, { kind, keys, words, steps }: ParsedBranch, fault: CreateFault): void {
  if (kind === "otherwise") {
    if (ask.otherwise) throw fault('the question already has an "Otherwise"');
    ask.otherwise = steps;
    return;
  }
  const usedAnswers = ask.branches.flatMap((branch) => [...branch.keys, ...branch.words]);
  const duplicate = [...keys, ...words].find((answer) => usedAnswers.includes(answer));
  if (duplicate !== undefined) throw fault(`the answer ${duplicate} already has a branch`);
  const phrases = words.filter((word) => word !== "nothing" && word !== "no answer");
  if (phrases.length < words.length) {
    if (ask.noAnswer) throw fault('the question already has an "If nothing"');
    ask.noAnswer = steps;
  }
  if (keys.length > 0 || phrases.length > 0) ask.branches.push({ keys, words: phrases, steps });
}

/** The steps of a branch, separated by semicolons; those within quotes are text. */
function branchSteps(text: string, fault: CreateFault): BranchStep[] {
  const steps: BranchStep[] = [];
  for (const part of text.match(/(?:"[^"]*"|“[^“”]*”|[^;])+/g) ?? []) {
    const step = part.trim();
    if (step === "" || CONTINUE.test(step)) continue;
    const say = SAY.exec(step);
    const to = GO_TO.exec(step)?.[1];
    const transfer = transferOf(step, fault);
    if (transfer) steps.push(transfer);
    else if (HANG_UP.test(step)) steps.push({ do: "hang_up" });
    else if (ASK_AGAIN.test(step)) steps.push({ do: "ask_again" });
    else if (to !== undefined) steps.push({ do: "go_to", to: to.toLowerCase() });
    else if (say) steps.push({ do: "say", text: spokenText(say[1] ?? say[2]!, fault) });
    else
      throw fault(
        `${shown(step)} cannot follow an answer: use "say: …", "go to NAME", "ask again", "continue", "transfer to +12025550123" or "hang up", separated by semicolons`,
      );
  }
  return steps;
}

function transferOf(text: string, fault: CreateFault): Transfer | undefined {
  const [, number] = TRANSFER.exec(text) ?? [];
  if (number === undefined) return undefined;
  const to = number.replace(/[\s().-]/g, "");
  if (!PHONE_NUMBER.test(to)) throw fault(`the number to transfer to ${PHONE_RULE}`);
  return { do: "transfer", to };
}

/** The numbers that a script transfers to. */
export function transferNumbers(steps: readonly ScriptStep[]): string[] {
  const laterSteps = questions(steps).flatMap(({ branches, otherwise = [], noAnswer = [] }) => [
    ...branches.flatMap((branch) => branch.steps),
    ...otherwise,
    ...noAnswer,
  ]);
  return [...steps, ...laterSteps].flatMap((step) => (step.do === "transfer" ? [step.to] : []));
}

function checkTargets(steps: readonly ScriptStep[]): void {
  const asks = questions(steps);
  const names = new Set(asks.map(({ name }) => name));
  for (const { branches, otherwise = [], noAnswer = [], text } of asks)
    for (const step of [...branches.flatMap((branch) => branch.steps), ...otherwise, ...noAnswer])
      if (step.do === "go_to" && !names.has(step.to))
        throw new ScriptFault(
          `after the question ${shown(text)} the script goes to ${step.to}, but no question has that name: write "Ask ${step.to}: …"`,
        );
}

/** The text to be spoken. */
function spokenText(source: string, fault: CreateFault): string {
  const text = unquote(source);
  if (!hasWords(text)) throw fault("its text has no letter and no digit, so there is nothing to speak");
  return text;
}

function unquote(text: string): string {
  const match = /^"([^"]*)"\.?$|^“([^”]*)”\.?$/.exec(text.trim());
  return (match?.[1] ?? match?.[2] ?? text).trim();
}
