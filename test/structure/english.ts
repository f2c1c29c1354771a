import type { SourceFile } from "./source-files.ts";

/** Verbs of speaking that are used for APIs. */
export const REPORTING_VERBS = /\b(?:told|tells|says|said|hears)\b/gi;
/** Conditions use "if" or "when" instead. */
export const WHERE = /\bwhere\b/gi;

/** Number of occurrences of a habit in a file, outside of queries. */
export function countOf(habit: RegExp, { text }: SourceFile): number {
  return withoutQueries(text).match(habit)?.length ?? 0;
}

/** True if a string is SQL: a verb at its start, and the clause that follows such a verb. */
export function isQuery(text: string): boolean {
  return /^\s*(?:select\b.*\bfrom|update\b.*\bset|delete\s+from|insert\s+into|create\s+(?:unique\s+)?index|alter\s+table|with\b.*\bas)\b/is.test(
    text,
  );
}

/** The source without kysely's `.where(…)`, tagged `sql` templates, and strings that are queries. */
function withoutQueries(text: string): string {
  return text
    .replace(/\.where\(/g, "(")
    .replace(/\bsql(?:<[^`]*?>)?`[^`]*(?:`[^`]*`[^`}]*\}[^`]*)*`/g, "sql")
    .replace(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, (quoted) => (isQuery(quoted.slice(1, -1)) ? "" : quoted));
}

/**
 * Habits of comments, each with the highest rate per 10,000 words among hono, h3 with crossws, kysely, pg-boss with graphile-worker, and agents-js (measured on 2026-11-28).
 * The limit is twice that rate.
 */
export const HABITS: readonly Habit[] = [
  {
    name: "docstrings that begin with a question word",
    kind: "docstring",
    pattern: /^(?:What|Whether|How|Why|Who|Whoever|Where|When)\b/g,
    rate: 6,
    advice: 'begin with a noun or a verb: "True if …", "Time until …, ms"',
  },
  {
    name: "nobody, somebody, whoever",
    kind: "comment",
    pattern: /\b(?:nobody|somebody|whoever)\b/gi,
    rate: 0.6,
    advice: "name the role (caller, client, owner), or use a passive",
  },
  {
    name: "nothing is, that, more …",
    kind: "comment",
    pattern: /\bnothing (?:is|that|more|was|else|to|of|has)\b/gi,
    rate: 1.4,
    advice: '"no X is …", or the positive statement',
  },
  {
    name: "one which, those that, that which",
    kind: "comment",
    pattern: /\b(?:one which|one that|those that|those which|that which|those who)\b/gi,
    rate: 1.4,
    advice: "repeat the noun",
  },
  {
    name: "is over",
    kind: "comment",
    pattern: /\b(?:is|are|was|were) over\b(?! the\b| a\b)/gi,
    rate: 0.5,
    advice: "has ended",
  },
  { name: "goes on", kind: "comment", pattern: /\b(?:go|goes|going|went) on\b/gi, rate: 0.5, advice: "continues" },
  {
    name: "meanwhile",
    kind: "comment",
    pattern: /\bmeanwhile\b/gi,
    rate: 0.5,
    advice: "in the meantime, or leave it out",
  },
  { name: "for good", kind: "comment", pattern: /\bfor good\b/gi, rate: 0.5, advice: "permanently" },
  {
    name: "by itself",
    kind: "comment",
    pattern: /\bby (?:itself|themselves)\b/gi,
    rate: 0.5,
    advice: "automatically, separately",
  },
  { name: "any more", kind: "comment", pattern: /\bany ?more\b/gi, rate: 0.5, advice: "no longer" },
  {
    name: "of its own",
    kind: "comment",
    pattern: /\bof (?:its|their|his|one's) own\b/gi,
    rate: 0.5,
    advice: "its own X, a separate X",
  },
];

/**
 * Phrases that a native speaker would not use or would read twice. Each limit is the number left in one kind of text.
 */
export const PHRASES: readonly Phrase[] = [
  {
    name: "counts described as things",
    kind: "docstring",
    pattern: /^(?:Maximum|Minimum) [a-z]+s\b/g,
    limit: 0,
    advice: '"Maximum number of …"',
  },
  {
    name: "counts of adjectives",
    kind: "docstring",
    pattern:
      /^Maximum (?!number|size|length|time|share)(?:[a-z]+ ){1,2}(?:requests|calls|keys|connections|attempts|frames|transactions|bytes)\b/g,
    limit: 0,
    advice: '"Maximum number of concurrent requests"',
  },
  {
    name: "docstrings without an antecedent",
    kind: "docstring",
    pattern: /^(?:Its|Their|They) /g,
    limit: 5,
    advice: 'a field is read on its own: "Path of the player", not "Its path"',
  },
  {
    name: "verbs without an antecedent",
    kind: "docstring",
    pattern: /^(?:Carries|Closes|Deletes|Ends|Lists|Opens|Reads|Runs|Sends|Starts|Stops) (?:it|them)\b/g,
    limit: 1,
    advice: 'a method is read on its own: "Ends the program", not "Ends it"',
  },
  {
    name: "docstrings that begin with By or From",
    kind: "docstring",
    pattern: /^(?:By|From) (?:an?|the|id|ids|name|type|hash|\w+\.$)\b/g,
    limit: 0,
    advice: '"Shares by user", "Time from the answer"',
  },
  {
    name: "time a thing may take",
    kind: "docstring",
    pattern: /^Time (?!that|for|at|after|until|from|within|of|between|since|by|when)(?:\S+ ){1,6}?may (?:take|ring)\b/g,
    limit: 1,
    advice: '"Time that running requests may take"',
  },
  {
    name: "the same for",
    kind: "docstring",
    pattern: /^The same (?:for|with|after|before|in|as)\b/g,
    limit: 0,
    advice: "a docstring is read without the one before it: repeat the noun",
  },
  {
    name: "time a thing is",
    kind: "docstring",
    pattern: /^Time (?:an?|the) \w+ (?:is|lasts|stays|waits)\b/g,
    limit: 0,
    advice: '"Time for which …"',
  },
  {
    name: "parameters without a noun",
    kind: "docstring",
    pattern: /@param \w+ of\b/g,
    limit: 6,
    advice: '"@param rate rate of the leg, Hz"',
  },
  {
    name: "also after a comma",
    kind: "comment",
    pattern: /[,;] also (?:after|at|before|by|concurrently|during|for|if|in|of|on|those|when|with|without)\b/g,
    limit: 0,
    advice: '"even" before a condition, "including" before a noun',
  },
  {
    name: "another than",
    kind: "comment",
    pattern: /\banother \w+ than\b/gi,
    limit: 0,
    advice: '"an address other than", "a different address"',
  },
  {
    name: "of ours, of theirs",
    kind: "comment",
    pattern: /\bof (?:ours|theirs)\b/g,
    limit: 0,
    advice: '"our request", "a request that we send"',
  },
  {
    name: "the header Name",
    kind: "comment",
    pattern: /\bthe headers? (?:`[A-Z]|[A-Z])/g,
    limit: 0,
    advice: '"the Allow header"',
  },
];

/** A phrase with a fixed limit; see {@link Habit}. */
export interface Phrase extends Omit<Habit, "rate"> {
  readonly limit: number;
}

/** A phrase that comments should use no more often than other projects do. */
export interface Habit {
  readonly name: string;
  /** Texts to search; a docstring is also a comment. */
  readonly kind: "docstring" | "comment";
  readonly pattern: RegExp;
  /** Findings per 10,000 words of comments. */
  readonly rate: number;
  readonly advice: string;
}

/** A comment of a source file, without its marks and line breaks. */
export interface Comment {
  readonly isDocstring: boolean;
  readonly text: string;
}

/** The comments of a source file: docstrings, and lines after `//`. */
export function commentsOf({ text }: SourceFile): readonly Comment[] {
  return [...text.matchAll(/\/\*(\*?)([\s\S]*?)\*\/|(?:^|[ \t])\/\/ (.*)$/gm)].map(([, docMark, block, line]) => ({
    isDocstring: docMark === "*",
    text: (block ?? line ?? "").replace(/\s*\n\s*\*? ?/g, " ").trim(),
  }));
}

/** The titles of a test file: of tests, groups, and clauses of a contract. */
export function titlesOf({ text }: SourceFile): readonly string[] {
  const call =
    /\b(?:test|it|clause|describe)(?:\.[\w.]+(?:\([^)]*\))?)*(?:\([^()]*\))?\(\s*(["`])((?:\\.|(?!\1).)*)\1/g;
  return [...text.matchAll(call)].map(([, , title]) => title ?? "");
}

/** The prose of a Markdown page, without its blocks of code. */
export function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
}

/** Number of words of a text. */
export function wordsOf(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}
